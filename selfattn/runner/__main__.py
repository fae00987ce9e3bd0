"""The command: ``sphinx-build`` with the helper started first, so that both load side by side."""

from __future__ import annotations

import sys

from selfattn.runner import helpers
from selfattn.runner.choice import chosen

if __name__ == "__main__":
    try:
        if chosen() == "fork":
            helpers.start()
    except ValueError as error:
        sys.exit(f"selfattn.runner: {error}")
    from sphinx.cmd.build import main

    sys.exit(main(sys.argv[1:]))
