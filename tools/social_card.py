"""Draw the picture that a link to the book is shown with: docs/_static/card.png.

Its numbers are computed, and the picture carries a fingerprint of what was drawn, which a test
holds against what would be drawn now. `nox -s card` runs it, with the system's Chromium.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zlib
from pathlib import Path

from chromium import FLAGS, chromium

from figures.attention_trace import attention_trace
from website.social_preview import CARD, CARD_SIZE

DOCS = Path(__file__).resolve().parents[1] / "docs"
FILE = DOCS / CARD
FONTS = DOCS / "_theme" / "static" / "fonts"
KEYWORD = b"Drawn"
PAGE = """<!doctype html><meta charset="utf-8"><style>
@font-face {{ font-family: Serif; src: url(data:font/woff2;base64,{serif}); }}
@font-face {{ font-family: Mono; src: url(data:font/woff2;base64,{mono}); }}
* {{ margin: 0; box-sizing: border-box; }}
body {{ width: {width}px; height: {height}px; padding: 64px; color: #1d1f22; background: #fff;
  font-family: Serif; display: flex; gap: 48px; align-items: center;
  border-bottom: 18px solid #0060c0; }}
h1 {{ font-size: 76px; line-height: 1.08; font-weight: 400; }}
p {{ margin-top: 28px; font-size: 31px; line-height: 1.35; color: #454b52; }}
pre {{ margin-top: 34px; font: 29px/1.4 Mono; }}
pre span {{ color: #1f6f43; font-family: sans-serif; }}
table {{ flex: none; border-spacing: 4px; font: 19px Mono; }}
th {{ padding: 2px 8px; font-weight: 400; text-align: right; }}
thead th {{ height: 92px; vertical-align: bottom; text-align: center; }}
thead th div {{ writing-mode: vertical-rl; transform: rotate(180deg); margin: auto; }}
td {{ width: 62px; height: 54px; text-align: center; border-radius: 5px; }}
</style><body><div><h1>Self-attention, every number verified</h1>
<p>Queries, keys and values, built in PyTorch, from six words.</p>
<pre>tensor([{result}])<br><span>✓ verified</span></pre></div>
<table><thead><tr><th></th>{heads}</tr></thead>{rows}</table>"""


def page() -> str:
    """Return the picture as a web page."""
    trace = attention_trace()
    largest = max(max(row) for row in trace.attn_weights)
    rows = "".join(
        f"<tr><th>{word}</th>{''.join(_cell(weight, largest) for weight in weights)}</tr>"
        for word, weights in zip(trace.words, trace.attn_weights, strict=True)
    )
    width, height = CARD_SIZE
    return PAGE.format(
        serif=_font("serif"),
        mono=_font("mono"),
        width=width,
        height=height,
        result=", ".join(f"{number:.4f}" for number in trace.context_vecs[1]),
        heads="".join(f"<th><div>{word}</div></th>" for word in trace.words),
        rows=rows,
    )


def _font(name: str) -> str:
    return base64.b64encode((FONTS / f"{name}.woff2").read_bytes()).decode()


def _cell(weight: float, largest: float) -> str:
    share = round(100 * (weight / largest) ** 3)
    ink = "#fff" if share > 60 else "#1d1f22"  # noqa: PLR2004 - where dark ink is too faint
    colour = f"color-mix(in srgb, #8a3d75 {share}%, #f6eef4)"
    return f'<td style="background: {colour}; color: {ink}">{weight:.2f}</td>'


def fingerprint(text: str) -> bytes:
    """Return what tells two pictures apart, fonts left out."""
    without_fonts = re.sub(r"base64,[\w+/=]+", "", text)
    return hashlib.sha256(without_fonts.encode()).hexdigest().encode()


def recorded(picture: bytes) -> bytes:
    """Return the fingerprint that a picture carries."""
    _, keyword, rest = picture.partition(b"tEXt" + KEYWORD + b"\0")
    return rest[:64] if keyword else b""


def signed(picture: bytes, mark: bytes) -> bytes:
    """Put a fingerprint into a PNG, before its last chunk."""
    chunk = b"tEXt" + KEYWORD + b"\0" + mark
    framed = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return picture[:-12] + framed + picture[-12:]


def main() -> None:
    """Draw the picture and keep it."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - the test needs no browser

    text = page()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS])
        width, height = CARD_SIZE
        tab = browser.new_page(viewport={"width": width, "height": height})
        tab.set_content(text)
        tab.evaluate("document.fonts.ready")
        picture = tab.screenshot()
        browser.close()
    FILE.write_bytes(signed(picture, fingerprint(text)))
    print(f"{FILE}: {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
