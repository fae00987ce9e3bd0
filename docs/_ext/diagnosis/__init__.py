"""My numbers differ: which documented value pasted numbers are, or which mistake makes them."""

from diagnosis.number_box import setup

__all__ = ["setup"]
