"""Write changed files, if git can undo it, and say what was written."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from sphinx_drift.source.update import CHANGED, Change, read_exactly

_NOT_KEPT = ("not in 'HEAD'", "object name 'HEAD'", "not a git repository (or")
"""What git says of a file that no commit has."""


def irreversible(paths: Iterable[Path]) -> list[str]:
    """Return why git couldn't undo what is written into some files, a reason for each of those."""
    reasons = []
    environment = os.environ | {"LC_ALL": "C"}
    for path in paths:
        file = path.resolve()  # which is written, where the name is that of a link
        command = ["git", "cat-file", "--filters", f"HEAD:./{file.name}"]
        try:
            kept = subprocess.run(
                command, cwd=file.parent, env=environment, capture_output=True, check=False
            )
        except FileNotFoundError:
            return ["there is no git"]
        if kept.returncode:
            said = " ".join(kept.stderr.decode(errors="replace").split())
            is_untracked = any(words in said for words in _NOT_KEPT)
            reason = "is untracked" if is_untracked else f"can't be read by git ({said})"
            reasons.append(f"{path} {reason}")
        elif _lines(kept.stdout) != _lines(file.read_bytes()):
            reasons.append(f"{path} has changes that are not committed, or that a filter removes")
    return reasons


def _lines(text: bytes) -> bytes:
    """Leave out how lines end, which git's settings may say."""
    return text.replace(b"\r\n", b"\n")


def write(changes: Sequence[Change]) -> int:
    """Write changes, or say why not.

    Returns:
        The exit status: 0 if all were written or there are none, 2 if any file was left.

    """
    written = []
    for change in changes:
        if reason := change.refused or _write(change):
            print(f"{change.path} is left as it is: {reason}", file=sys.stderr)
        else:
            written.append(change)
            for note in change.notes:
                print(note)
    files = f"{len(written)} file{'' if len(written) == 1 else 's'}"
    wrote = f"wrote {files}; look at `git diff --word-diff=color`, then check again"
    print(wrote if written else "nothing to write")
    return 0 if len(written) == len(changes) else 2


def _write(change: Change) -> str:
    """Write a file, unless it changed meanwhile, whole or not at all; return why not."""
    if read_exactly(change.path) not in (change.before, change.after):  # by another link to it
        return CHANGED
    path = change.path.resolve()
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_bytes(change.after.encode())
        shutil.copymode(path, new)
        with suppress(OSError, AttributeError):  # in a container the user may be another
            os.chown(new, path.stat().st_uid, path.stat().st_gid)
        new.replace(path)
    except (OSError, UnicodeEncodeError) as error:  # a full disk, say
        return str(error)
    finally:
        new.unlink(missing_ok=True)
    return ""
