"""Forbid jsonschema a grammar of web addresses that takes it 0.4 s to make: notebooks need none.

It is imported before nbformat, by processes that are ours alone.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
