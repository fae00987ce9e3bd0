"""Shows a book in the browser while it is written: each save is built, verified, and reloaded.

``python -m sphinx_drift.live docs docs/_build/live`` serves any Sphinx book on this machine alone.
The pages are those that a build makes, because each save is a build: in a process of its own,
forked from one that has Sphinx loaded. It stands by before the save, and is replaced if
anything else than pages has changed; it shows the saved page first, before it has gone through the
whole book. Every other page then runs in the background, until something else is saved.
"""
