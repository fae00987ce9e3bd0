"""Reads what pages, notebooks and docstrings document, and writes it anew when asked."""
