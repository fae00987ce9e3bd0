"""Report the outcomes to people, CI systems and programs."""
