"""What a page reads besides its cells, seen in its kernel: each function stands alone."""


def stamp_of(path: str) -> list[int] | None:
    """Return what changes with a file: its times, its size and which it is; None without one."""
    import os

    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_dev, found.st_ino]


def watch_reads() -> None:
    """Note each file and folder that Python opens, with its stamp at that moment.

    An empty name stands for what can't be seen: another process, the network or a database.
    """
    import importlib.util
    import os
    import sys
    from typing import Any

    beyond = (
        *("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"),
        *("_winapi.CreateProcess", "socket.connect", "socket.getaddrinfo", "sqlite3.connect"),
    )
    stamps: dict[str, list[int] | None] = {}
    written: set[str] = set()
    """Files that the page made itself: it opened them first to write."""

    def note(event: str, args: tuple[Any, ...]) -> None:
        is_module = event == "import" and args[0].startswith("multiprocessing.popen_")
        if is_module or event.startswith(beyond):  # multiprocessing's starter audits nothing
            stamps[""] = None
            return
        if event not in ("open", "os.listdir", "os.readlink", "os.scandir") or type(args[0]) is int:
            return
        if event == "os.listdir" and "importlib" in sys._getframe(2).f_code.co_filename:
            return
        path = os.path.abspath(os.fsdecode(args[0] or "."))
        if path.endswith(".pyc"):
            path = importlib.util.source_from_cache(path)
        if path not in stamps and event == "open" and args[2] & (os.O_TRUNC | os.O_EXCL):
            written.add(path)
        elif path not in written:
            stamps.setdefault(path, stamp_of(path))

    def hook(event: str, args: tuple[Any, ...]) -> None:
        try:
            note(event, args)
        except Exception:  # noqa: BLE001 - nothing here may become a page's error
            stamps[""] = None

    def read_link(path: Any, **options: Any) -> Any:
        hook("os.readlink", (path,))
        return plain_readlink(path, **options)

    sys.drift_reads = stamps, written  # type: ignore[attr-defined]
    sys.addaudithook(hook)
    plain_readlink, os.readlink = os.readlink, read_link  # which Python doesn't audit


def reads() -> dict[str, list[int] | None]:
    """Return what was read, with its stamps; None for a missing file.

    Installed files are not among them; an empty name stands for what can't be seen.
    """
    import os
    import sys
    import sysconfig
    from pathlib import PurePath

    stamps, written = sys.drift_reads  # type: ignore[attr-defined]
    installed = [f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib")]
    system = (*installed, "/dev/", "/proc/", "/sys/")
    packages = {"site-packages", "dist-packages"}

    def is_local(path: str) -> bool:
        return not path.startswith(system) and packages.isdisjoint(PurePath(path).parts)

    # A module without __spec__ was not imported. One imported unseen, as by compiled code, has no
    # stamp of that moment.
    imported = [m for m in [*sys.modules.values()] if getattr(m, "__spec__", None)]
    files = {os.path.abspath(getattr(module, "__file__", None) or "/dev/") for module in imported}
    unseen = filter(os.path.isfile, files - stamps.keys() - written)
    lacking: dict[str, list[int] | None] = dict.fromkeys(filter(is_local, unseen))
    local = {path: stamps[path] for path in sorted(stamps) if is_local(path)}
    return local | lacking | ({"": None} if lacking else {})
