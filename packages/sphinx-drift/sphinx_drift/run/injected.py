"""Code that runs inside a page's process: each function stands alone and is sent as source."""

from __future__ import annotations


def answers(functions: list[tuple[str, str]]) -> object:
    """Return what functions return, by their names, as JSON, however the page displays texts.

    Each is made from its source in a namespace of its own: the page's variables stay as they are.
    """
    import json
    from typing import Any

    returned = {}
    for name, source in functions:
        namespace: dict[str, Any] = {}
        exec(source, namespace)  # noqa: S102 - it is ours, or an extension's
        returned[name] = namespace[name]()
    text = json.dumps(returned)

    class Answer:
        def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
            return {"application/x-drift": text}

    return Answer()


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
    # What has no __spec__, the page made itself: a stand-in for a library.
    numpy, torch = (sys.modules.get(name) for name in ("numpy", "torch"))
    if numpy is not None and getattr(numpy, "__spec__", None):
        environment["numpy"] = numpy.__version__
    if torch is None or not getattr(torch, "__spec__", None):
        return environment
    environment["torch"] = torch.__version__.partition("+")[0]
    # What was asked for: a cell may choose another default.
    environment["device"] = os.environ.get("DRIFT_DEVICE", "cpu")
    environment["capability"] = torch.backends.cpu.get_cpu_capability()
    environment["threads"] = str(torch.get_num_threads())
    if not environment["device"].startswith("cpu"):
        module = importlib.import_module(os.environ["DRIFT_DEVICE_MODULE"])
        device = module.describe(environment["device"])
        for name in ("name", "driver", "capability"):
            environment[name] = device.get(name, "")
    return environment


def package_origins() -> dict[str, str]:
    """Return the folders of the packages in ``DRIFT_PACKAGES`` that the page has imported."""
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

    importlib.import_module(os.environ["DRIFT_DEVICE_MODULE"]).start(os.environ["DRIFT_DEVICE"])


def fill_memory() -> None:
    """Have glibc fill what it allocates, so that what was never set is not 0 by chance."""
    import ctypes
    import sys

    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if mallopt := getattr(library, "mallopt", None):
        mallopt(-6, 165)  # M_PERTURB


def print_numpy_in_full() -> None:
    """Make arrays and their elements print all the digits that they have.

    Invisible marks enclose a dtype, after a number of an array or one that was taken out of one.
    """
    import builtins
    import importlib
    from typing import Any

    numpy: Any = importlib.import_module("numpy")
    mark = "\N{INVISIBLE SEPARATOR}"
    write, set_options = builtins.print, numpy.set_printoptions

    def marked(value: Any) -> str:
        return f"{float(value)!r}{mark}{value.dtype}{mark}"

    def print_marked(*values: Any, **options: Any) -> None:
        kind = () if options.get("file") else numpy.floating
        write(*(marked(v) if isinstance(v, kind) else v for v in values), **options)

    def set_printoptions(*args: Any, **options: Any) -> None:
        set_options(*args, **options)
        set_options(precision=17, formatter={"float": marked})

    numpy.set_printoptions = set_printoptions
    set_printoptions()
    builtins.print = print_marked


def print_torch_in_full() -> None:  # noqa: PLR0915 - it is sent as one text
    """Make tensors and their elements print all the digits that they have.

    Invisible marks enclose what is known besides: a star after a number or tensor that was
    computed in float32 and is wider now; after a tensor its dtype, and the largest number of that
    which it is a part of.
    """
    import importlib
    from typing import Any

    torch: Any = importlib.import_module("torch")
    mark = "\N{INVISIBLE SEPARATOR}"
    set_options = torch.set_printoptions

    def set_printoptions(*args: Any, **options: Any) -> None:
        set_options(*args, **options)
        set_options(precision=17)

    class Single(float):
        """A number that was taken out of a float32 tensor, or computed from such a one."""

        known = "*"
        """What is known of it: its dtype as long as nothing else was computed from it."""

        def __repr__(self) -> str:
            return f"{float.__repr__(self)}{mark}{self.known}{mark}"

        __str__ = __repr__

        def __format__(self, form: str) -> str:
            text = float.__format__(self, form)
            if text.strip(" +-%").isdigit():  # a whole number, which is compared as it is
                return text
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
            return [single(item, known) for item in value]
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
        base = tensor._base
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

    torch.set_printoptions = set_printoptions
    set_printoptions()
    for name, method in {
        "item": take("item"),
        "tolist": take("tolist"),
        "__repr__": show,
        "__format__": whole,
        **{name: widen(name) for name in ("double", "to", "type")},
    }.items():
        setattr(torch.Tensor, name, method)


IN_FULL = {"numpy": print_numpy_in_full, "torch": print_torch_in_full}
"""What makes each library that a page has imported print full precision."""


def leave_no_bytecode() -> None:
    """Write no .pyc: Python validates it by seconds and size, and would miss a quick edit."""
    import sys

    sys.dont_write_bytecode = True


def order_descriptors() -> None:
    """Have what is written past Python, by a subprocess say, stand where it was written.

    ipykernel reads the descriptors in a thread, which may get its turn in a later cell. Here all
    that has been written there is read before Python's own text, a value or the end of a cell.
    """
    import codecs
    import os
    import select
    import sys
    import threading
    from typing import Any

    def order(stream: Any) -> None:
        pipe, copy, kernel = stream._fid, stream._original_stdstream_copy, os.getpid()
        stream._should_watch = False
        os.write(stream._original_stdstream_fd, b"\0")  # wakes ipykernel's thread, which ends
        stream.watch_fd_thread.join()
        os.set_blocking(pipe, False)
        write, flush, lock = stream.write, stream.flush, threading.RLock()
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def read_all() -> bool:
            with lock:
                while True:
                    try:
                        data = os.read(pipe, 1 << 16)
                    except BlockingIOError:
                        return True
                    if not data:
                        return False
                    os.write(copy, data)
                    write(decoder.decode(data))

        def watch() -> None:
            readable = select.poll()
            readable.register(pipe, select.POLLIN)
            while readable.poll() and read_all():
                pass

        def ordered_write(text: str) -> Any:
            if os.getpid() == kernel:  # a process that a cell has forked has a copy of this
                read_all()
            return write(text)

        def ordered_flush() -> None:
            if os.getpid() == kernel:
                read_all()
            flush()

        stream.write, stream.flush = ordered_write, ordered_flush
        threading.Thread(target=watch, daemon=True).start()

    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "_fid", None) is not None:  # it is ipykernel's, and watched
            order(stream)


def measure_coverage() -> None:
    """Measure what a page runs, as the options in ``DRIFT_COVERAGE`` say, to its process's end."""
    import importlib
    import json
    import os

    coverage = importlib.import_module("coverage")
    coverage.Coverage(**json.loads(os.environ["DRIFT_COVERAGE"]), auto_data=True).start()


def report_versions() -> dict[str, dict[str, str]]:
    """Return what conditions may ask: the versions in ``DRIFT_VERSIONS``, and markers' values."""
    import importlib.metadata
    import os

    from packaging.markers import default_environment

    markers = {name: str(value) for name, value in default_environment().items()}
    versions = {"python": markers["python_full_version"]}
    for name in os.environ.get("DRIFT_VERSIONS", "").split(","):
        try:
            versions.setdefault(name, importlib.metadata.version(name))
        except (ValueError, importlib.metadata.PackageNotFoundError):
            continue
    return {"versions": versions, "markers": markers}
