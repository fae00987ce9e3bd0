"""What a reader sees of a cell's outputs: text, in each form in which it is shown."""
