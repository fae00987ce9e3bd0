"""The Sphinx extension: pages run and are judged as they are read, and the build fails on drift."""
