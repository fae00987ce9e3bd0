"""Every printed number knows where it comes from: marked on a page, lit by a script."""

from quantities.marking import setup

__all__ = ["setup"]
