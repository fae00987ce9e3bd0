"""Read the documented outputs of pages, notebooks and docstrings, and update them."""
