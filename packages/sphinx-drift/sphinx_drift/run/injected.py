"""Code that runs inside a page's process: each function stands alone and is sent as source."""


def call_each(functions: list[tuple[str, str, tuple[str, ...]]]) -> object:
    """Return what functions return, by their names, as JSON, however the page displays texts.

    Each is made from its source in a new namespace: the page's variables stay as they are.
    """
    import json
    from typing import Any

    returned = {}
    for name, source, arguments in functions:
        namespace: dict[str, Any] = {}
        exec(source, namespace)  # noqa: S102 - it is ours, or an extension's
        returned[name] = namespace[name](*arguments)
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
    # Without __spec__ it is a stand-in that the page made itself.
    numpy, torch = (sys.modules.get(name) for name in ("numpy", "torch"))
    if numpy is not None and getattr(numpy, "__spec__", None):
        environment["numpy"] = numpy.__version__
    if torch is None or not getattr(torch, "__spec__", None):
        return environment
    environment["torch"] = torch.__version__.partition("+")[0]
    # The device that was asked for: a cell may choose another default.
    environment["device"] = os.environ.get("DRIFT_DEVICE", "cpu")
    environment["capability"] = torch.backends.cpu.get_cpu_capability()
    environment["threads"] = str(torch.get_num_threads())
    if not environment["device"].startswith("cpu"):
        module = importlib.import_module(os.environ["DRIFT_DEVICE_MODULE"])
        device = module.describe(environment["device"])
        for name in ("name", "driver", "capability"):
            environment[name] = device.get(name, "")
    return environment


def package_origins(*names: str) -> dict[str, str]:
    """Return the folders of the packages of some names that the page has imported."""
    import os
    import sys

    paths_of = {}
    for name in names:
        module = sys.modules.get(name)
        if module is not None and module.__spec__ is not None:  # else the page made it itself
            paths = [*getattr(module, "__path__", ()), getattr(module, "__file__", None)]
            paths_of[name] = os.path.realpath(paths[0]) if paths[0] else ""
    return paths_of


def compute_on_device(module: str, device: str) -> None:
    """Compute on a device, as the book's module for devices does."""
    import importlib

    importlib.import_module(module).start(device)


def leave_no_bytecode() -> None:
    """Write no .pyc: Python validates it by seconds and size, and would miss a quick edit."""
    import sys

    sys.dont_write_bytecode = True


def order_descriptors() -> None:
    """Keep text that bypasses Python, such as a subprocess's, where it was written.

    ipykernel reads the descriptors in a thread, which may get its turn in a later cell. Here all
    that has been written there is read before Python's text, a value or the end of a cell.
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

        def ordered_write(text: Any) -> Any:
            if os.getpid() == kernel:  # a process that a cell has forked has a copy of this
                read_all()
            if isinstance(text, str):
                # As print does it: ipykernel would lose it, and write a log. Of the name of a file,
                # bytes that are no text come through as replacement characters.
                str.encode(text, errors="surrogateescape")
            return write(text)

        def ordered_flush() -> None:
            if os.getpid() == kernel:
                read_all()
            flush()

        stream.write, stream.flush = ordered_write, ordered_flush
        threading.Thread(target=watch, name="drift", daemon=True).start()

    for stream in (sys.stdout, sys.stderr):
        # It is ipykernel's, and watched; before 6.23, nothing can end the watching.
        is_watched = getattr(stream, "_fid", None) is not None
        if is_watched and hasattr(stream, "_original_stdstream_fd"):
            order(stream)


def keep_messages() -> None:
    """Let all that is printed wait to be sent: beyond 1,000 messages, ZeroMQ drops it."""
    import importlib
    import sys

    thread = getattr(sys.stdout, "pub_thread", None)
    if thread is not None:  # it is ipykernel's
        unlimited = importlib.import_module("zmq").SNDHWM, 0
        thread.schedule(lambda: thread.socket.setsockopt(*unlimited))


def end_at_the_next_cell() -> None:
    """Let a kernel that a cell ends, by `exit` say, be asked what the last one is asked.

    ipykernel's ends 0.1 s later, so that it was up to the machine what it still ran.
    """
    import os
    import sys
    from typing import Any

    ipython: Any = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if not hasattr(getattr(shell, "kernel", None), "eventloop"):
        return  # it isn't ipykernel's

    def end_event_loop(change: Any) -> None:
        hook = getattr(shell.kernel.eventloop, "exit_hook", None)
        if change["new"] and hook:
            hook(shell.kernel)

    def end() -> None:
        if shell.exit_now:
            os._exit(0)

    shell.unobserve_all("exit_now")
    shell.observe(end_event_loop, "exit_now")
    shell.events.register("pre_run_cell", lambda *_: end())


def measure_coverage(options: str) -> None:
    """Measure what a page runs to its process's end; the options of coverage.py are JSON."""
    import importlib
    import json

    coverage = importlib.import_module("coverage")
    coverage.Coverage(**json.loads(options), auto_data=True).start()


def report_versions(*names: str) -> dict[str, dict[str, str]]:
    """Return what conditions may ask: the versions of some packages, and markers' values."""
    import contextlib
    import importlib.metadata

    from packaging.markers import default_environment

    markers = {name: str(value) for name, value in default_environment().items()}
    versions = {"python": markers["python_full_version"]}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.setdefault(name, importlib.metadata.version(name))
    return {"versions": versions, "markers": markers}
