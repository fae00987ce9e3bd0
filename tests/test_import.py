"""Importing selfattn takes torch and nothing else."""

import json
import subprocess
import sys

import pytest

import selfattn

LIST = "import json, sys; print(json.dumps(sorted({n.partition('.')[0] for n in sys.modules})))"


def modules_loaded_by(*statements: str) -> list[set[str]]:
    code = "\n".join(f"{statement}\n{LIST}" for statement in statements)
    command = [sys.executable, "-W", "error", "-c", code]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [set(json.loads(line)) for line in output.splitlines()]


def test_import_loads_torch_and_nothing_of_the_book() -> None:
    before, after = modules_loaded_by("import torch", "import selfattn, selfattn.examples")
    assert after - before - set(sys.stdlib_module_names) == {"selfattn"}


@pytest.mark.parametrize("name", selfattn.__all__)
def test_public_docstrings_are_whole(name: str) -> None:
    docstring = getattr(selfattn, name).__doc__
    parts = [".. math::", "Args:", "Raises:", "Examples:", ">>> ", "References:"]
    assert [part for part in parts if part not in docstring] == []
