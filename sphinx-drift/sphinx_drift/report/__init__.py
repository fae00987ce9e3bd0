"""Tells people, CI systems and programs what came of a check."""
