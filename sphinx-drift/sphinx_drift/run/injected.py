"""Code that runs inside a page's process: each function stands alone and is sent as source."""

from __future__ import annotations


def report_environment() -> dict[str, str]:
    """Return what the numbers of this page were computed with."""
    import importlib
    import os
    import platform
    import sys

    environment = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
    }
    torch = sys.modules.get("torch")
    if torch is None:
        return environment
    environment["torch"] = torch.__version__.partition("+")[0]
    # What was asked for: a cell may choose another default.
    environment["device"] = os.environ.get("DRIFT_DEVICE", "cpu")
    environment["capability"] = torch.backends.cpu.get_cpu_capability()
    environment["threads"] = str(torch.get_num_threads())
    if not environment["device"].startswith("cpu"):
        module = importlib.import_module(os.environ["DRIFT_DEVICE_MODULE"])
        device = module.describe(environment["device"])
        for each in ("name", "driver", "capability"):
            environment[each] = device.get(each, "")
    return environment


def origins() -> dict[str, str]:
    """Return from where the page imported those packages that the environment names."""
    import os
    import sys

    paths_of = {}
    for name in filter(None, os.environ.get("DRIFT_PACKAGES", "").split(",")):
        module = sys.modules.get(name)
        if module is not None and module.__spec__ is not None:  # else the page made it itself
            paths = [*getattr(module, "__path__", ()), getattr(module, "__file__", None)]
            paths_of[name] = os.path.realpath(paths[0]) if paths[0] else ""
    return paths_of


def compute_on_device() -> None:
    """Compute on the device that the environment names, as the book's module for devices does."""
    import importlib
    import os

    module = importlib.import_module(os.environ["DRIFT_DEVICE_MODULE"])
    _, _, part = os.environ.get("DRIFT_DEVICE_SHARE", "").partition(" ")
    module.start(os.environ["DRIFT_DEVICE"], float(part) if part else None)


def print_full_precision() -> None:  # noqa: PLR0915 - it is sent as one text
    """Make tensors, arrays and their elements print all the digits that they have.

    Invisible marks enclose what is known besides: a star after a number or tensor that was
    computed in float32 and is wider now; after a tensor its dtype, and the largest number of that
    which it is a part of; the dtype after a number of an array, or one that was taken out of one.
    """
    import builtins
    import sys
    from typing import Any

    digits = 17
    mark = "\N{INVISIBLE SEPARATOR}"

    def wrap(module: Any, **always: Any) -> None:
        plain = module.set_printoptions

        def set_printoptions(*args: Any, **options: Any) -> None:
            plain(*args, **options)
            plain(precision=digits, **always)

        module.set_printoptions = set_printoptions
        plain(precision=digits, **always)

    def adapt_numpy(numpy: Any) -> None:
        write = builtins.print

        def marked(value: Any) -> str:
            return f"{float(value)!r}{mark}{value.dtype}{mark}"

        def print_marked(*values: Any, **options: Any) -> None:
            kind = () if options.get("file") else numpy.floating
            write(*(marked(v) if isinstance(v, kind) else v for v in values), **options)

        wrap(numpy, formatter={"float": marked})
        builtins.print = print_marked

    def adapt_torch(torch: Any) -> None:
        class Single(float):
            """A number that was taken out of a float32 tensor, or computed from such a one."""

            known = "*"
            """What is known of it: its dtype as long as nothing else was computed from it."""

            def __repr__(self) -> str:
                return f"{float.__repr__(self)}{mark}{self.known}{mark}"

            __str__ = __repr__

            def __format__(self, form: str) -> str:
                plus = "+" * ("+" in form and self >= 0)
                if form.endswith("%"):
                    return f"{plus}{float(self) * 100!r}{mark}*{mark}%"
                return f"{plus}{self!r}"

            def __round__(self, places: Any = None) -> Any:
                return round(float(self)) if places is None else self

            def __reduce__(self) -> Any:
                return float, (float(self),)

        def computed(name: str) -> Any:
            plain = getattr(float, name)

            def method(self: float, *others: Any) -> Any:
                result = plain(self, *others)
                return Single(result) if type(result) is float else result

            return method

        binary = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
        for name in (*binary, *(f"r{name}" for name in binary), "neg", "pos", "abs"):
            setattr(Single, f"__{name}__", computed(f"__{name}__"))

        narrow = (torch.float32, torch.float16, torch.bfloat16)
        plain = {name: getattr(torch.Tensor, name) for name in ("item", "tolist", "__repr__")}
        state = {"widened": False, "printing": False}

        def single(value: Any, known: str) -> Any:
            if isinstance(value, list):
                return [single(each, known) for each in value]
            if type(value) is not float:
                return value
            number = Single(value)
            number.known = known
            return number

        def take(name: str) -> Any:
            def method(tensor: Any) -> Any:
                value = plain[name](tensor)
                ours = tensor.dtype in narrow
                if state["printing"] or not (ours or state["widened"]):
                    return value
                return single(value, str(tensor.dtype).removeprefix("torch.") if ours else "*")

            return method

        def widen(name: str) -> Any:
            convert = getattr(torch.Tensor, name)

            def method(tensor: Any, *args: Any, **options: Any) -> Any:
                result = convert(tensor, *args, **options)
                wide = getattr(result, "dtype", None) is torch.float64
                state["widened"] |= wide and tensor.dtype in narrow
                return result

            return method

        def show(tensor: Any, **options: Any) -> str:
            before, state["printing"] = state["printing"], True  # a tensor prints its items
            try:
                text = str(plain["__repr__"](tensor, **options))
                star = "*" * (state["widened"] and tensor.dtype is torch.float64)
                known = f"{tensor.dtype} {largest(tensor)}".removeprefix("torch.")
                return f"{text}{mark}{star}{known}{mark}"
            finally:
                state["printing"] = before

        def largest(tensor: Any) -> str:
            base = tensor._base  # noqa: SLF001 - documented, under tensor views
            whole = tensor if base is None else base
            try:
                sizes = whole.detach().abs()
                return str(sizes[sizes.isfinite()].max().item())
            except (RuntimeError, NotImplementedError):  # it is empty or sparse, say
                return ""

        def whole(tensor: Any, form: str) -> str:
            if tensor.dim():
                return str(tensor)
            value = tensor.item()
            return format(value, form) if isinstance(value, Single) else str(value)

        wrap(torch)
        for name, method in {
            "item": take("item"),
            "tolist": take("tolist"),
            "__repr__": show,
            "__format__": whole,
            **{name: widen(name) for name in ("double", "to", "type")},
        }.items():
            setattr(torch.Tensor, name, method)

    when_imported = sys.__dict__["_drift_when_imported"]
    when_imported("numpy", adapt_numpy)
    when_imported("torch", adapt_torch)


def disturb() -> None:
    """Give every default generator other entropy and torch another number of threads."""
    import os
    import random
    import sys
    from typing import Any

    def disturb_torch(torch: Any) -> None:
        torch.seed()
        torch.set_num_threads(2 if torch.get_num_threads() == 1 else 1)

    random.seed(os.urandom(16))  # NumPy's generator takes the system's entropy by itself
    sys.__dict__["_drift_when_imported"]("torch", disturb_torch)


def watch_imports() -> None:
    """Let what is called next change a library that the page imports, as soon as it has.

    Nothing is imported for a page. What it imports need not be imported by that name: one library
    imports another, and one that is preloaded brings all that its import had brought.
    """
    import sys
    from typing import Any

    waiting: dict[str, list[Any]] = {}
    loading: set[str] = set()

    def when_imported(name: str, adapt: Any) -> None:
        waiting.setdefault(name, []).append(adapt)
        adapt_loaded()

    def adapt_loaded() -> None:
        for name in list(waiting):  # a page may import in threads
            if name in sys.modules and name not in loading:
                for adapt in waiting.pop(name, ()):
                    adapt(sys.modules[name])

    class Loader:
        def __init__(self, spec: Any) -> None:
            self.spec, self.loader = spec, spec.loader

        def __getattr__(self, name: str) -> Any:
            return getattr(self.loader, name)

        def exec_module(self, module: Any) -> None:
            name = module.__name__
            self.spec.loader = module.__loader__ = self.loader
            loading.add(name)
            try:
                self.loader.exec_module(module)
            finally:
                loading.discard(name)
            adapt_loaded()

    class Finder:
        def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
            if not waiting or "." in name:
                return None
            others = (finder for finder in sys.meta_path if finder is not self)
            finds = (getattr(finder, "find_spec", None) for finder in others)
            specs = (find(name, path, target) for find in finds if find)
            spec: Any = next(filter(None, specs), None)
            if hasattr(spec and spec.loader, "exec_module"):
                spec.loader = Loader(spec)
            return spec

    sys.__dict__["_drift_when_imported"] = when_imported
    sys.meta_path.insert(0, Finder())


def watch() -> None:
    """Note from now on which files are opened for reading, and what each was like by then."""
    import contextlib
    import importlib.util
    import os
    import sys

    opened: dict[str, list[int] | None] = {}
    written: set[str] = set()
    # What else a page does to files is its own doing too: these name one file, or two.
    doing = {"os.rename": 2, "os.remove": 1, "os.rmdir": 1, "os.truncate": 1, "os.link": 2}
    # By what is opened, not by sys.modules: to go through it copies a thousand pages of memory
    # that this process shares with its parent.
    access = getattr(os, "O_ACCMODE", 3)  # Windows has no such name
    soon = 2_000_000_000

    def state(path: str) -> list[int] | None:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return None
        return [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]

    sys.__dict__["_drift_watched"] = opened, written, state

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event in doing:
            names = (name for name in arguments[: doing[event]] if isinstance(name, (str, bytes)))
            written.update(os.path.abspath(os.fsdecode(name)) for name in names)
            return
        # An extension module is imported by its file: the linker opens it, not Python.
        place = {"open": 0, "import": 1}.get(event)
        if place is None or not isinstance(path := arguments[place], str):
            return
        path = os.path.abspath(path)  # the working directory may change
        flags = arguments[2]
        if place == 0 and isinstance(flags, int) and flags & access:
            written.add(path)
            return
        if path.endswith(".pyc"):
            with contextlib.suppress(ValueError):
                source = importlib.util.source_from_cache(path)
                if not drop_if_doubtful(path, source):
                    path = source  # what is loaded is compiled; what an author changes is not
        if path not in opened and not os.path.isdir(path):
            opened[path] = state(path)

    def drop_if_doubtful(cached: str, source: str) -> bool:
        # Python knows a source by its second and size. One that was compiled within two seconds
        # of its last change, or touched since (another file may have been put in its place, with
        # the same times), may be another one. Without the cache it is read.
        before, compiled = state(source), state(cached)
        if "-packages" in cached or not before or not compiled:
            return False
        if compiled[0] - max(before[0], before[1]) > soon:
            return False
        with contextlib.suppress(OSError):
            os.unlink(cached)
        return True

    sys.addaudithook(note)


def files() -> dict[str, dict[str, list[object] | None]]:
    """Return which files the page depends on, as they were when it opened them, and which changed.

    Returns:
        ``read``: the state (times, size, number) and the digest of each local file, None if there
        is none; the digest of a large one is empty. ``changed``: what the page opened, did not
        write itself, and is not any more what it was.

    """
    import hashlib
    import os
    import sys

    opened, written, state = sys.__dict__["_drift_watched"]
    large = 1 << 24
    standard, _ = os.path.split(os.__file__)
    libraries = {os.path.join(path, "") for path in (standard, os.path.realpath(standard))}
    elsewhere = (*libraries, "/etc/")
    of_system = ("/dev/", "/proc/", "/sys/")
    packaged = {"site-packages", "dist-packages", "__pycache__"}

    def digest(path: str, size: int) -> str:
        if size > large:
            return ""
        try:
            with open(path, "rb") as file:
                return hashlib.sha256(file.read()).hexdigest()
        except OSError:
            return ""

    read: dict[str, list[object] | None] = {}
    changed: dict[str, list[object] | None] = {}
    for path, before in list(opened.items()):
        if path in written or path.startswith(of_system) or os.path.isdir(path):
            continue
        if before and state(path) != before:
            changed[path] = before
        # By their text first: reading a thousand library files would take long.
        if not path.startswith(elsewhere) and not packaged.intersection(path.split(os.sep)):
            read[os.path.realpath(path)] = before and [*before, digest(path, before[2])]
    return {"read": read, "changed": changed}
