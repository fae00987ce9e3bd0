"""Jupyter kernels that are forked from a process with libraries loaded."""

__version__ = "0.1.0"
