"""Pages, notebooks and docstrings as tests of pytest."""
