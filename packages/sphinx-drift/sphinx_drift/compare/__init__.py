"""Do two texts print the same values? Pure functions on texts and numbers, nothing else."""
