"""What a page reads besides its own cells, seen in its kernel: each function stands alone."""

from __future__ import annotations


def watch_reads() -> None:
    """Note what Python opens, as it is then; what a process, network or database says, nobody sees.

    What is opened to be written first is the page's own.
    """
    import contextlib
    import os
    import sys
    import time
    from typing import Any

    opens = ("open", "os.listdir", "os.scandir")
    beyond = (
        "sqlite3.connect",  # it may attach other databases
        *("_winapi.CreateProcess", "socket.connect", "socket.getaddrinfo", "subprocess.Popen"),
        *("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"),
    )
    ours = os.getpid()
    seen: dict[str, Any] = {}
    tried: set[str] = set()

    def note(event: str, args: tuple[Any, ...]) -> None:
        if event in beyond:
            seen[""] = None
        elif event == "import":
            tried.add(args[0])
        elif event in opens and not isinstance(args[0], int) and os.getpid() == ours:
            if event == "os.listdir" and "importlib" in sys._getframe(2).f_code.co_filename:
                return
            path = os.path.abspath(os.fsdecode(args[0] or "."))
            if path not in seen:
                mode, flags = args[1:] if event == "open" else ("", 0)
                is_new = (mode or "").startswith(("w", "x")) or flags & (os.O_TRUNC | os.O_EXCL)
                found = None if is_new or not os.path.exists(path) else os.stat(path)
                seen[path] = found and [found.st_mtime_ns, found.st_ctime_ns, found.st_size]
                if is_new:
                    seen[path] = "new"

    def hook(event: str, args: tuple[Any, ...]) -> None:
        try:
            note(event, args)
        except Exception:  # noqa: BLE001 - nothing here may become a page's error
            seen[""] = None

    with contextlib.suppress(ImportError):  # there is none on Windows
        import _posixsubprocess as starter

        start = starter.fork_exec

        def fork_exec(*args: Any) -> int:  # multiprocessing calls it, and it audits nothing
            seen[""] = None
            return start(*args)

        starter.fork_exec = fork_exec
    sys.drift_reads = time.time_ns(), seen, tried  # type: ignore[attr-defined]
    sys.addaudithook(hook)


def reads() -> dict[str, list[int] | None]:
    """Return the files and folders that were read, each with its times and size, or None for none.

    An empty name means that more was read than can be seen. What is installed is not among them.
    """
    import os
    import sys
    import sysconfig
    from pathlib import PurePath

    began, noted, tried = sys.drift_reads  # type: ignore[attr-defined]
    seen = dict(noted)
    missed = [name.replace(".", "/") for name in tried if name not in sys.modules]
    wanted = [f"{folder or '.'}/{name}" for folder in sys.path for name in missed]
    for path in [os.path.abspath(f"{each}{end}") for each in wanted for end in ("", ".py")]:
        if path not in seen:
            found = os.stat(path) if os.path.exists(path) else None
            seen[path] = found and [found.st_mtime_ns, found.st_ctime_ns, found.st_size]
    imported = [each for each in [*sys.modules.values()] if getattr(each, "__spec__", None)]
    for path in [os.path.abspath(getattr(each, "__file__", None) or "/") for each in imported]:
        if path not in seen and os.path.isfile(path):  # Python read its bytecode
            found = os.stat(path)
            seen[path] = [found.st_mtime_ns, found.st_ctime_ns, found.st_size]
            if found.st_ctime_ns > began:
                seen[""] = None  # which of the two it was, nobody knows
    installed = [f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib")]
    system = (*installed, "/dev/", "/proc/", "/sys/")
    packages = {"site-packages", "dist-packages"}
    return {
        path: stamp
        for path, stamp in sorted(seen.items())
        if not (path.startswith(system) or path.endswith(".pyc") or stamp == "new")
        and packages.isdisjoint(PurePath(path).parts)
    }
