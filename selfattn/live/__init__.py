"""Shows a book in the browser while it is written: each save is built, verified, and reloaded.

``python -m selfattn.live docs docs/_build/live`` serves any Sphinx book on this machine alone. The
pages are those that a build makes, because each save is a build: in a fresh process, forked from
one that has Sphinx loaded. What the book imports of its own is imported anew each time.
"""
