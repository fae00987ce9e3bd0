"""Jupyter kernels that are forked from a process with libraries loaded: of use without the rest."""
