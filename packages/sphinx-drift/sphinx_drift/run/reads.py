"""What a page reads besides its own cells, seen in its kernel: each function stands alone."""

from __future__ import annotations


def watch_reads() -> None:
    """Note each file and folder that Python opens, with its times and size at that moment.

    What another process, the network or a database says, nobody sees: an empty name stands for it.
    """
    import importlib.util
    import os
    import sys
    from typing import Any

    beyond = (
        *("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"),
        *("_winapi.CreateProcess", "socket.connect", "socket.getaddrinfo", "sqlite3.connect"),
    )
    seen: dict[str, Any] = {}

    def note(event: str, args: tuple[Any, ...]) -> None:
        is_module = event == "import" and args[0].startswith("multiprocessing.popen_")
        if is_module or event.startswith(beyond):  # multiprocessing's own starter audits nothing
            seen[""] = None
        elif event in ("open", "os.listdir", "os.scandir") and not isinstance(args[0], int):
            if event == "os.listdir" and "importlib" in sys._getframe(2).f_code.co_filename:
                return
            path = os.path.abspath(os.fsdecode(args[0] or "."))
            if path.endswith(".pyc"):
                path = importlib.util.source_from_cache(path)
            if path not in seen:
                # What is opened to be written first is the page's own.
                is_own = event == "open" and args[2] & (os.O_TRUNC | os.O_EXCL)
                found = None if is_own or not os.path.exists(path) else os.stat(path)
                stamp = found and [
                    *(found.st_mtime_ns, found.st_ctime_ns, found.st_size),
                    *(found.st_dev, found.st_ino),
                ]
                seen[path] = "own" if is_own else stamp

    def hook(event: str, args: tuple[Any, ...]) -> None:
        try:
            note(event, args)
        except Exception:  # noqa: BLE001 - nothing here may become a page's error
            seen[""] = None

    sys.drift_reads = seen  # type: ignore[attr-defined]
    sys.addaudithook(hook)


def reads() -> dict[str, list[int] | None]:
    """Return what was read, with its stamps; None for what wasn't there, an empty name as above.

    What is installed is not among them.
    """
    import os
    import sys
    import sysconfig
    from pathlib import PurePath

    seen = dict(sys.drift_reads)  # type: ignore[attr-defined]
    # What has no __spec__, nobody imported. What was imported unseen, compiled code say, has no
    # stamp of the moment.
    imported = [m for m in [*sys.modules.values()] if getattr(m, "__spec__", None)]
    files = [os.path.abspath(getattr(module, "__file__", None) or "/dev/") for module in imported]
    seen = {path: "unseen" for path in files if os.path.isfile(path)} | seen
    installed = [f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib")]
    system = (*installed, "/dev/", "/proc/", "/sys/")
    packages = {"site-packages", "dist-packages"}
    local = {
        path: stamp
        for path, stamp in sorted(seen.items())
        if stamp != "own" and not path.startswith(system)
        if packages.isdisjoint(PurePath(path).parts)
    }
    return local | ({"": None} if "unseen" in local.values() else {})
