"""The fork server's parent: it outlives the server, and ends what the server's pages had started.

A page may start processes that leave its group, and a server that is killed can end nothing. The
guard stays small, does nothing but wait, and so is not what the kernel kills when memory runs out.
"""

from __future__ import annotations

import contextlib
import os

from .processes import adopt_orphans, children, kill


def leave_guard(listening: int) -> None:
    """Go on in a child; this process stays behind as its guard, and ends with its exit status."""
    adopt_orphans()
    server = os.fork()
    if server == 0:
        return
    # Were they open here too, a client would wait for a server that is gone.
    for fd in (0, listening):
        os.close(fd)
    pid = 0
    while pid != server:
        pid, status = os.wait()  # others are what pages have left behind, and have ended
    # Each that is killed may leave children of its own, whose parent this process then becomes.
    while sum(map(kill, children())):
        with contextlib.suppress(ChildProcessError):
            os.wait()
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
