"""A page sees nothing of another, and draws what no other has drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from runners import Pages

DISTURB = (
    "import os, random, signal, sys, types, warnings\n"
    "import torch\n"
    "leak = sys.leak = 1\n"
    "sys.modules['leaked'] = types.ModuleType('leaked')\n"
    "import builtins\nbuiltins.leaked = 1\n"
    "sys.path.append('/leaked')\n"
    "os.environ['LEAKED'] = '1'\n"
    "os.mkdir('below')\nos.chdir('below')\n"
    "kept = open(os.devnull)\n"
    "os.set_inheritable(kept.fileno(), True)\n"
    "signal.signal(signal.SIGUSR1, lambda *_: None)\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "torch.manual_seed(1); random.seed(1)\n"
    "torch.set_default_dtype(torch.float64); torch.set_num_threads(1)\n"
    "torch.set_printoptions(precision=1)\n"
    "torch.leaked = 1\n"
    "warnings.simplefilter('ignore')\n"
    "os.umask(0)\n"
    "get_ipython().user_ns_hidden['leak'] = 1\n"
    "get_ipython().ast_node_interactivity = 'all'"
)

LOOK = (
    "import os, signal, sys, builtins, warnings\n"
    "import torch\n"
    "[name for name, seen in {\n"
    "    'global': 'leak' in globals() or hasattr(sys, 'leak') or hasattr(builtins, 'leaked'),\n"
    "    'module': 'leaked' in sys.modules or hasattr(torch, 'leaked'),\n"
    "    'path': '/leaked' in sys.path,\n"
    "    'environment': 'LEAKED' in os.environ,\n"
    "    'folder': os.path.basename(os.getcwd()) == 'below',\n"
    "    'signal': signal.getsignal(signal.SIGUSR1) != signal.SIG_DFL\n"
    "        or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL,\n"
    "    'torch': torch.get_default_dtype() != torch.float32\n"
    "        or str(torch.tensor(1 / 3)) != 'tensor(0.3333)',\n"
    "    'umask': os.umask(0o22) == 0,\n"
    "    'shell': get_ipython().ast_node_interactivity == 'all',\n"
    "    'warnings': ('ignore', None, Warning, None, 0) in warnings.filters,\n"
    "}.items() if seen]"
)
DRAWS = (
    "import random, numpy, torch\n"
    "print(random.random())\nprint(numpy.random.rand())\nprint(torch.rand(1).item())\n"
    "print(torch.initial_seed())\nimport uuid, secrets\nprint(uuid.uuid4())\n"
    "print(numpy.random.default_rng().random())"
)


def test_page_sees_nothing_of_another(pages: Pages, shown: Any) -> None:
    disturbing, execution = pages.fork(DISTURB, LOOK)
    assert execution.failure is None
    assert shown(disturbing.cells[2]) != "[]\n"  # the page itself sees what it did
    looking, execution = pages.fork(LOOK)
    assert execution.failure is None
    assert shown(looking.cells[1]) == "[]\n"


@pytest.mark.parametrize("code", [DRAWS, "import numpy\nprint(numpy.random.rand())"])
def test_unseeded_draws_differ_between_pages(pages: Pages, shown: Any, code: str) -> None:
    drawn = [shown(pages.fork(code)[0].cells[1]).splitlines() for _ in range(3)]
    for values in zip(*drawn, strict=True):
        assert len(set(values)) == 3


def test_local_module_is_the_one_that_is_there_now(pages: Pages, shown: Any) -> None:
    local = pages.folder / "changing.py"
    for value in ("old", "new, and longer"):
        local.write_text(f"VALUE = {value!r}\n", "utf-8")
        notebook, _ = pages.fork("import changing\nprint(changing.VALUE)")
        assert shown(notebook.cells[1]) == value + "\n"


def test_equal_pages_asked_for_at_a_time_are_each_run(pages: Pages, shown: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - used here alone

    code = "import os, time\nprint(os.getpid())\ntime.sleep(0.3)"
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: pages.fork(code), range(4)))
    assert len({shown(notebook.cells[1]) for notebook, _ in results}) == 4


def test_environment_of_the_build_is_the_environment_of_the_page(
    pages: Pages, shown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os, time\nprint(os.environ.get('ONE_OF_MINE'), time.tzname[0])"
    monkeypatch.setenv("ONE_OF_MINE", "1")
    monkeypatch.setenv("TZ", "XYZ+3")
    assert shown(pages.fork(code)[0].cells[1]) == "1 XYZ\n"
    monkeypatch.delenv("ONE_OF_MINE")
    monkeypatch.setenv("TZ", "UTC")
    assert shown(pages.fork(code)[0].cells[1]) == "None UTC\n"
