"""A cell's outputs as a reader sees them: text, in each form that is shown."""
