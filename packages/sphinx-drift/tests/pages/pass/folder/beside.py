"""A module beside a page."""

TEXT = "a module beside the page"
