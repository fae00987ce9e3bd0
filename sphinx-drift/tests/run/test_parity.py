"""What a page shows in a forked kernel is byte for byte what a stock kernel shows."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nbformat import NotebookNode
    from runners import Pages

SHOWN = [
    "from IPython.display import *\nHTML('<b>x</b>')",
    "display({'application/json': {'a': {1, 2}}}, raw=True)",
    "shown = display('first', display_id='me')\nprint('between')\nshown.update('second')",
    "display('again', display_id='me')",
    "for n in range(3):\n    clear_output(wait=True)\n    print('n', n)",
    "print('gone')\nclear_output()\nprint('stays')",
    "_, __, _9, In[1:3], sorted(Out)[:3], type(_oh)",
    "'\\ud800', 'ünï', '😀'",
]

STREAMS = [
    (
        "import os, subprocess, sys, time\nfor n in range(5):\n"
        "    print('out', n)\n    print('err', n, file=sys.stderr)"
    ),
    (
        "for n in range(3):\n    print('out', n)\n    print('err', n, file=sys.stderr)\n"
        "    time.sleep(0.3)"
    ),
    (
        "for n in range(3):\n    print('out', n, flush=True)\n"
        "    print('err', n, file=sys.stderr, flush=True)"
    ),
    "print('no newline', end='')",
    "print('a\\rb\\r\\nc\\bd\\n\\n\\te')",
    "!echo shell; echo err >&2; exit 3",
    "_exit_code",
    "lines = !echo one; echo two\nlines, lines.n",
    "%%bash\necho bash\necho err >&2",
    "%%capture kept\nprint('x')\nprint('e', file=sys.stderr)\ndisplay(1)",
    "kept.stdout, kept.stderr, kept.outputs[0].data",
    (
        "from contextlib import redirect_stdout\nfrom io import StringIO\n"
        "with redirect_stdout(StringIO()) as text:\n    print('redirected')\ntext.getvalue()"
    ),
    (
        "import threading\n"
        "def say(words):\n    for n in range(3):\n        print(words, n)\n"
        "thread = threading.Thread(target=say, args=('thread',))\nthread.start()\nthread.join()"
    ),
    (
        "def late():\n    time.sleep(0.3)\n    print('late')\n"
        "thread = threading.Thread(target=late)\nthread.start()"
    ),
    "thread.join()\nprint('joined')",
    "def bad():\n    1 / 0\nthread = threading.Thread(target=bad, name='bad')\nthread.start()\nthread.join()",
    "threading.current_thread().name",
    (
        "import multiprocessing\n"
        "def work(n):\n    print('child', n, flush=True)\n    return n * n\n"
        "process = multiprocessing.get_context('fork').Process(target=work, args=(1,))\n"
        "process.start()\nprocess.join()\ntime.sleep(1)\nprocess.exitcode"
    ),
    (
        "with multiprocessing.get_context('fork').Pool(1) as pool:\n    print(pool.map(work, [2]))\n"
        "time.sleep(1)"
    ),
    "import logging\nlogging.basicConfig(level='INFO', force=True)\nlogging.info('hi')",
    "print('x' * 5_000_000)",
    "for n in range(200_000):\n    print(n)",
    "sys.stdout.isatty(), sys.stdout.encoding, type(sys.stdout), sys.stdout.closed",
    "print('last', end='')\ndisplay('shown')\nprint('more', end='')",
]

DESCRIPTORS = [  # what is written past Python
    "import os, subprocess, time",
    "print('before')\ncount = os.write(1, b'raw \\xff\\n')\ntime.sleep(1)\nprint('after')",
    "print('before')\ncount = os.write(2, b'raw err\\n')\ntime.sleep(1)\nprint('after')",
    "print('before')\ndone = subprocess.run(['echo', 'sub'])\ntime.sleep(1)\nprint(done)",
]

MAGICS = [
    "x, y = 1, 'two'\n%who",
    "def f():\n    '''Say.'''\n    return 1\nf??",
    "%history",
    "%pwd",
    "%precision 3",
    "3.14159265",
    "%load_ext autoreload\n%autoreload 2",
    "%nope",
    "%%writefile local_one.py\nimport sys\ndef boom():\n    return 1 / 0\nprint('imported')",
    "import local_one",
    "local_one.boom()",
    "%run local_one.py",
    "%%python\nprint('another Python')",
    "%set_env SOME=1\n%env SOME",
    "%cd -q .",
    "%store",
    "%matplotlib inline",
    "%gui asyncio",
    "%reset -f\nsorted(n for n in globals() if not n.startswith('_'))",
]

ERRORS = [
    "def f(x):\n    return g(x)\ndef g(x):\n    return 1 / x\nf(0)",
    "try:\n    f(0)\nexcept ZeroDivisionError as e:\n    raise ValueError('chained') from e",
    "x = (",
    "  x = 1\n y = 2",
    "raise KeyError('key')",
    "raise KeyboardInterrupt",
    "raise SystemExit(3)",
    "import sys\nsys.exit('bye')",
    "inverse = lambda n: 1 / n\ninverse(0)",
    "%xmode Plain",
    "inverse(0)",
    "inverse(0)",
    "%xmode Context",
    "raise ExceptionGroup('g', [ValueError(1), TypeError('t')])",
    "import nothing_such",
    "exec('def q():\\n  1/0\\nq()')",
    "import traceback\ntry:\n    f(0)\nexcept ZeroDivisionError:\n    traceback.print_exc()",
    "print('said before')\n1 / 0\nprint('never')",
    "import warnings\nfor n in range(3):\n    warnings.warn('once')",
    "warnings.warn('once')\ndef old():\n    warnings.warn('dep', DeprecationWarning)\nold()",
    "input('x? ')",
    "import getpass\ngetpass.getpass('p? ')",
    "breakpoint()",
    ("raise ValueError('allowed')", "raises-exception"),
    ("print('skipped')", "skip-execution"),
    "",
]

ASYNC = [
    "import asyncio\nawait asyncio.sleep(0.01)\nprint('awaited')",
    "never = asyncio.sleep(0)\nasyncio.run(never)",
    "import signal\nawait asyncio.sleep(0)\nsignal.getsignal(signal.SIGINT).__name__",
    "await asyncio.to_thread(print, 'from a thread')",
    (
        "process = await asyncio.create_subprocess_exec('echo', 'sub', "
        "stdout=asyncio.subprocess.PIPE)\nawait process.communicate()"
    ),
]

NAMES = [
    "__name__, type(get_ipython()), type(get_ipython().kernel)",
    "import os, sys\nsys.argv[0], sys.argv[1], sys.argv[3:], sys.path",
    "os.getcwd() == os.path.realpath('.'), os.listdir('.'), sys.stdin, sys.stdin.read()",
    "sorted(os.environ)",
    (
        "{name: os.environ.get(name) for name in ('MPLBACKEND', 'TERM', 'PAGER', 'COLUMNS', "
        "'PYDEVD_USE_FRAME_EVAL', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'FORCE_COLOR', "
        "'PYTORCH_NVML_BASED_CUDA_CHECK')}"
    ),
    "sorted(globals())",
    "__doc__, __spec__, __loader__, __package__, __builtins__",
    "sys.modules['__main__'].__dict__ is globals(), sys.modules['__main__'].__file__",
    "sys.getrecursionlimit(), sys.flags.utf8_mode, sys.getfilesystemencoding()",
    (
        "import signal\n[signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, "
        "signal.SIGPIPE, signal.SIGCHLD)]"
    ),
    "import warnings\nwarnings.filters",
    "import logging\nlogging.getLogger().handlers, logging.getLogger().level",
    "import gc\ngc.get_threshold(), gc.isenabled()",
    "'torch' in sys.modules, 'selfattn' in sys.modules, 'sphinx' in sys.modules",
    "import importlib.util\nimportlib.util.find_spec('torch').origin",
    "import torch\n'torch' in sys.modules, torch.__spec__.name, type(torch.__loader__)",
    "torch.get_num_threads(), torch.get_num_interop_threads(), torch.get_default_dtype()",
    "generator = torch.manual_seed(0)\ntorch.rand(3), torch.initial_seed()",
    "torch.manual_seed(1)\ntorch.rand(500, 500) @ torch.rand(500, 500)",
    "import torch.nn\ntorch.nn.Linear(2, 3)(torch.ones(2))",
    "torch.nn.Linear(2, 3)(torch.ones(3))",
    "import numpy\nnumpy.random.seed(0)\nnumpy.random.rand(2), numpy.float64(1) / 0",
    "import random\nrandom.seed(0)\nrandom.random()",
    "import time\ntime.tzname, time.strftime('%Z')",
    "import resource\nresource.getrlimit(resource.RLIMIT_NOFILE), os.getpriority(0, 0), os.umask(18)",
    (
        "import comm\nopened = comm.create_comm(target_name='jupyter.widget', comm_id='0123',\n"
        "    data={'state': {'_model_name': 'X', '_model_module': 'm', '_model_module_version': '1',\n"
        "          'buf': None}, 'buffer_paths': [['buf']]},\n"
        "    buffers=[b'abc'], metadata={'version': '2.0.0'})\nopened.comm_id"
    ),
    (
        "opened.send(data={'method': 'update', 'state': {'x': 5}, 'buffer_paths': []})\n"
        "from IPython.display import display\n"
        "display({'application/vnd.jupyter.widget-view+json': {'model_id': '0123'}, 'text/plain': 'w'}, "
        "raw=True)"
    ),
    "open('data.txt', 'w').write('x'), open('data.txt').read()",
    "exit",
]

STATE = [
    "import sys\n[name in sys.modules for name in ('matplotlib', 'matplotlib_inline.backend_inline')]",
    "import matplotlib.pyplot as plt\nlines = plt.plot([1, 2])",
    "plt.get_backend(), plt.bar(['a'], [3]).get_label()",
    "%history -l",
    "%history -l 2",
    "%history -g sys",
    "history = get_ipython().history_manager\nhistory.hist_file, history.enabled, history.session_number",
    "list(history.get_tail(2, include_latest=True)), history.get_last_session_id()",
    "%dhist",
    "%cd -q /\n%dhist\n%cd -q -\n_dh, get_ipython().starting_dir == _dh[0]",
    "import faulthandler\nfaulthandler.is_enabled(), faulthandler.enable.__module__",
    "faulthandler.enable()\nfaulthandler.is_enabled(), faulthandler.disable(), faulthandler.is_enabled()",
    "[name in sys.modules for name in ('numpy', 'torch', 'torch.nn')]",
    "import numpy, warnings\nwarnings.filters",
    "for _ in range(3):\n    numpy.polyfit([1, 1], [1, 1], 2)",
    "[name in sys.modules for name in ('numpy', 'torch', 'torch.nn')]",
    "warnings.simplefilter('error', UserWarning)\nfrom torch.nn import functional\nwarnings.filters",
    "[name in sys.modules for name in ('numpy', 'torch', 'torch.nn')]",
    "import torch\ntorch.nn.functional is functional, torch.__spec__.name, numpy.__spec__.name",
]

# What ipywidgets' own `Output` sends and hears, under a name that is always the same.
OUTPUT_WIDGET = """
import comm, sys
from IPython.display import clear_output, display
class Output:
    outputs = []
    def __init__(self, name):
        state = {"_model_name": "OutputModel", "_model_module": "@jupyter-widgets/output",
                 "_model_module_version": "1.0.0", "msg_id": "", "outputs": []}
        self.comm = comm.create_comm(target_name="jupyter.widget", comm_id=name,
            data={"state": state, "buffer_paths": []}, metadata={"version": "2.1.0"})
        self.comm.on_msg(self.hear)
    def hear(self, message):
        assert message["buffers"] == []
        self.outputs = message["content"]["data"]["state"]["outputs"]
    def update(self, msg_id):
        sys.stdout.flush(), sys.stderr.flush()
        self.comm.send({"method": "update", "state": {"msg_id": msg_id}, "buffer_paths": []})
    def __enter__(self):
        self.update(get_ipython().kernel.get_parent()["header"]["msg_id"])
    def __exit__(self, *error):
        if error[0]:
            get_ipython().showtraceback(error)
        self.update("")
        return True
"""

WIDGETS = [
    OUTPUT_WIDGET,
    "out = Output('one')\nwith out:\n    print('in it')\n    display(5)\nprint('below')\nout.outputs",
    "out.outputs",
    "with out:\n    print('error', file=sys.stderr)\n    1 / 0",
    "[output['output_type'] for output in out.outputs], out.outputs[-1]['evalue']",
    "with out:\n    clear_output(wait=True)\n    print('instead')\nprint(len(out.outputs))",
    "out.outputs",
    "inner = Output('two')\nwith out:\n    print('around')\n    with inner:\n        print('nested')",
    "out.outputs, inner.outputs",
    "with out:\n    clear_output()",
    "out.outputs\nprint('end')",
]

PAGES: dict[str, Sequence[Any]] = {
    "shown": SHOWN,
    "streams": STREAMS,
    "magics": MAGICS,
    "errors": ERRORS,
    "async": ASYNC,
    "names": NAMES,
    "state": STATE,
    "widgets": WIDGETS,
    "descriptors": DESCRIPTORS,
}


def text_of(cells: NotebookNode) -> str:
    """Return a cell or a notebook as text, without the number of the kernel's process."""
    return re.sub(r"ipykernel_\d+", "ipykernel_PID", json.dumps(cells, sort_keys=True))


@pytest.mark.parametrize("name", PAGES)
def test_page_is_the_same_by_both_runners(pages: Pages, name: str) -> None:
    cells = PAGES[name]
    may_raise = frozenset(range(len(cells) + 1))
    forked, by_fork = pages.fork(*cells, may_raise=may_raise)
    for left in pages.folder.iterdir():
        left.unlink() if left.is_file() else None
    stock, by_stock = pages.stock(*cells, may_raise=may_raise)
    for ours, theirs in zip(forked.cells, stock.cells, strict=True):
        assert text_of(ours) == text_of(theirs), ours.source
    assert text_of(forked) == text_of(stock)
    assert (by_fork.executed, by_fork.failure) == (by_stock.executed, by_stock.failure)
    assert by_fork.environment == by_stock.environment


def test_page_that_fails_is_the_same_by_both_runners(pages: Pages) -> None:
    cells = ("print('one')", ("1 / 0", "raises-exception"), "import json\n[][0]", "print('never')")
    forked, by_fork = pages.fork(*cells)
    stock, by_stock = pages.stock(*cells)
    assert text_of(forked) == text_of(stock)
    assert (by_fork.executed, by_fork.failure) == (by_stock.executed, by_stock.failure)
    assert by_fork.failure is not None
    assert by_fork.failure.index == 3
