"""Time how long hostile outputs take to read, at three sizes, each in a process of its own.

Run it from the project's root as ``nox -s hostile``.
"""

import multiprocessing
import multiprocessing.connection
import resource
import sys
import time

from hostile import SHAPES, text_of

SIZES = (10_000, 100_000, 1_000_000)
LIMIT = 60
"""Seconds of a processor after which a text is given up."""


def main(names: list[str]) -> None:
    """Print a table of seconds."""
    print(f"{'shape':32}" + "".join(f"{size:>11,}" for size in SIZES) + "   last growth")
    for name in names or SHAPES:
        times = [_seconds(name, size) for size in SIZES]
        growth = times[-1] / max(times[-2], 0.001)
        print(
            f"{name:32}" + "".join(f"{each:11.3f}" for each in times) + f"{growth:11.1f}",
            flush=True,
        )


def _seconds(name: str, size: int) -> float:
    """Return how long a text takes; infinity if longer than the limit."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=_read, args=(name, size, writer))
    process.start()
    writer.close()
    try:
        seconds: float = reader.recv()
    except EOFError:
        seconds = float("inf")
    process.join()
    return seconds


def _read(name: str, size: int, writer: multiprocessing.connection.Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    text = text_of(name, size)
    start = time.process_time()
    SHAPES[name][0](text)
    writer.send(time.process_time() - start)


if __name__ == "__main__":
    main(sys.argv[1:])
