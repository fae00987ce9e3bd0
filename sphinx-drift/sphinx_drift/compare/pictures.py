"""Compare pictures as an eye does, by NVIDIA's FLIP: loaded only where a page asks for it."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXTRA = "comparing pictures needs two packages: pip install flip-evaluator pillow"


def decoded(data: str) -> bytes:
    """Return a picture as it is in a file, from what a notebook stores: base64, or SVG's text."""
    return data.encode() if data.lstrip().startswith("<") else base64.b64decode(data)


def differing(documented: Sequence[bytes], executed: Sequence[bytes], likeness: float) -> str:
    """Say which pictures are less alike than they must be; nothing if none is.

    Args:
        documented: The pictures as they must be, as they are in files.
        executed: The pictures that were drawn.
        likeness: The least likeness, 1 for the same to the eye: one minus FLIP's mean error.

    Raises:
        ModuleNotFoundError: If the libraries that it takes are not installed.
        ValueError: If a picture is none that can be compared: SVG, for one.

    """
    if len(documented) != len(executed):
        return f"{len(documented)} documented, {len(executed)} drawn"
    pairs = zip(documented, executed, strict=True)
    likenesses = [(number, *_alike(*pair)) for number, pair in enumerate(pairs, start=1)]
    messages = [
        f"picture {number} is alike by {alike:.4f}, wanted are {likeness:g}{why}"
        for number, alike, why in likenesses
        if alike < likeness
    ]
    return "; ".join(messages)


def _alike(documented: bytes, executed: bytes) -> tuple[float, str]:
    """Return how alike two pictures are, and why they can't be more if their sizes differ."""
    if documented == executed:
        return 1.0, ""
    try:
        import flip_evaluator  # noqa: PLC0415 - an extra
        import PIL.Image  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise ModuleNotFoundError(_EXTRA) from None
    left, right = (_pixels(PIL.Image, picture) for picture in (documented, executed))
    if left.shape != right.shape:
        sizes = (f"{pixels.shape[1]} x {pixels.shape[0]}" for pixels in (left, right))
        return 0.0, ": documented {} pixels, drawn {}".format(*sizes)
    _, error, _ = flip_evaluator.evaluate(left, right, "LDR", applyMagma=False)
    return 1.0 - error, ""


def _pixels(images: Any, picture: bytes) -> Any:
    """Return the pixels of a picture on white, from 0 to 1."""
    import numpy as np  # noqa: PLC0415 - an extra

    try:
        image = images.open(io.BytesIO(picture)).convert("RGBA")
    except OSError as error:
        raise ValueError(f"a picture can't be compared: {error}; draw it as PNG or JPEG") from None
    on_white = images.alpha_composite(images.new("RGBA", image.size, "white"), image)
    return np.asarray(on_white.convert("RGB"), dtype=np.float32) / 255
