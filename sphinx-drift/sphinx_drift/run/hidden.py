"""Hides packages that the fork server has loaded from a page until the page imports them."""

from __future__ import annotations

import copy
import importlib
import itertools
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types


class HiddenPackages:
    """Packages that are loaded, and seem not to be until they are imported.

    A page may ask ``sys.modules`` what is loaded, as libraries do to choose what they return.
    """

    def __init__(self) -> None:
        self._loaded: dict[str, tuple[set[str], list[Any]]] = {}
        self._packages: dict[str, dict[str, types.ModuleType]] = {}
        self._specs: dict[str, Any] = {}

    def load(self, name: str) -> None:
        """Import a module that pages need, and note which warnings it filters."""
        before, first = set(sys.modules), warnings.filters[0]
        importlib.import_module(name)
        filters = list(itertools.takewhile(lambda each: each is not first, warnings.filters))
        new = {each.partition(".")[0] for each in set(sys.modules) - before}
        self._loaded[name] = (new - sys.stdlib_module_names - {"__mp_main__"}, filters)

    def hide(self) -> None:
        """Take what was loaded out of the table of modules."""
        packages = set().union(*(packages for packages, _ in self._loaded.values()))
        self._packages = {package: {} for package in packages if package in sys.modules}
        for name in list(sys.modules):
            if (package := name.partition(".")[0]) in self._packages:
                self._packages[package][name] = sys.modules.pop(name)
        sys.meta_path.insert(0, self)

    def module(self, name: str) -> Any:
        """Return a loaded module, hidden or not; None if it isn't loaded."""
        package = self._packages.get(name.partition(".")[0], sys.modules)
        return package.get(name)

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        """Return the specification of a hidden module, with this object as its loader."""
        if name not in self._packages:
            return None
        self._specs[name] = self._packages[name][name].__spec__
        spec: Any = copy.copy(self._specs[name])
        spec.loader = self
        return spec

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return the loaded module."""
        return self._packages[spec.name][spec.name]

    def exec_module(self, module: types.ModuleType) -> None:
        """Make a module what it was before it was hidden, with all that its import brings."""
        name = module.__name__
        module.__spec__ = spec = self._specs.pop(name)
        module.__loader__ = spec and spec.loader
        self._show(name)
        for each in self._imported_by(name):
            packages, filters = self._loaded.pop(each)
            for package in packages:
                self._show(package)
            for action, message, category, place, line in reversed(filters):
                texts = [pattern.pattern if pattern else "" for pattern in (message, place)]
                warnings.filterwarnings(action, texts[0], category, texts[1], line)
        if not self._packages:
            sys.meta_path.remove(self)

    def _show(self, package: str) -> None:
        sys.modules.update(self._packages.pop(package, {}))

    def _imported_by(self, name: str) -> list[str]:
        """Return the loaded modules that the import of one brings: each brings those before it."""
        names = list(self._loaded)
        return names[: names.index(name) + 1] if name in names else []


HIDDEN = HiddenPackages()
"""Those of this process; each page's child inherits them."""
