"""A build with variants shows and marks the one that holds, and tells the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from small_book import cell

if TYPE_CHECKING:
    from conftest import Book

pytestmark = pytest.mark.slow

VARIANTS = """\
```{{expected-output}}
:when: numpy<1
:html:
:name: mean

{old}
```

% A comment may part them.

```{{expected-output}}
:when: numpy>=1
:name: mean

{new}
```

The mean is {{printed}}`mean[0]`."""
SHOWN = """\
class Both:
    def __repr__(self): return "a text: 7"
    def _repr_html_(self): return "<b>in HTML: 7</b>"
Both()"""


@pytest.mark.parametrize(("new", "status"), [("a text: 7", 0), ("a text: 8", 1)])
def test_a_build_compares_the_variant_that_holds(book: Book, new: str, status: int) -> None:
    variants = VARIANTS.format(old="in HTML: 7", new=new).replace("mean[0]", "mean#1")
    book.write("page.md", cell(SHOWN), variants)
    built = book.build(builder="html")
    assert built.status == status, built.stderr
    if status:
        assert ("page.md:24", "drift") in built.places
        return
    page = (built.outdir / "page.html").read_text("utf-8")
    assert page.count("drift-mark drift-verified") == 1
    assert "The mean is" in page
