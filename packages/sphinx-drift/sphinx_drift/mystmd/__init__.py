"""What a build by mystmd (Jupyter Book 2) loads to have its outputs compared."""
