"""The drawings: one module for each subject, beside what their numbers are computed from.

In each of them, `DRAWINGS` maps the names of figures to how they are drawn.
"""

import functools
import importlib
import pkgutil

from figures.drawing import Drawing


@functools.cache
def all_drawings() -> dict[str, Drawing]:
    """Return the figures by their names."""
    names = (module.name for module in pkgutil.iter_modules(__path__, f"{__name__}."))
    modules = [importlib.import_module(name) for name in names]
    return {
        name: each for module in modules for name, each in getattr(module, "DRAWINGS", {}).items()
    }
