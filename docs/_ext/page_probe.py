"""What runs inside each page's kernel: it keeps the values that figures and notes show.

Each function stands alone: it is sent to the kernel as source.
"""

from __future__ import annotations


def keep_page_values() -> None:
    """Keep the values of the declared expressions, from now on, after each cell of a page."""
    import contextlib
    import sys
    import tomllib
    import warnings
    from pathlib import Path

    from IPython import get_ipython

    folders = (Path.cwd(), *Path.cwd().parents)
    files = (folder / "_data" / "quantities.toml" for folder in folders)
    file = next((file for file in files if file.is_file()), None)
    table = tomllib.loads(file.read_text("utf-8")) if file else {}
    # A kernel doesn't know which page it runs: it keeps all that has a value there.
    wanted = {name for family in table.get("family", {}).values() for name in family}
    for page in table.get("page", {}).values():
        wanted.update(page.get("bind", {}).values(), page.get("keep", {}).values())
    codes = {each: compile(each, "<quantities.toml>", "eval") for each in sorted(wanted)}
    shell = get_ipython()
    shell.page_values = {}
    limit = 10_000  # numbers; what is larger is shown by no figure and no note

    def plain(value: object) -> object:
        torch = sys.modules.get("torch")
        if torch and isinstance(value, torch.Tensor) and value.numel() < limit:
            return value.detach().cpu().tolist()
        if isinstance(value, dict):
            return {str(name): plain(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [plain(each) for each in value]
        if isinstance(value, bool | int | float | str):
            return value
        raise TypeError(f"no value to keep: {type(value).__name__}")

    def keep(*_: object) -> None:
        torch = sys.modules.get("torch")
        generator = torch.get_rng_state() if torch else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is another page's expression
            for expression, code in codes.items():
                if expression not in shell.page_values:
                    with contextlib.suppress(Exception):  # it isn't made yet
                        value = eval(code, dict(shell.user_ns))  # noqa: S307 - the book's own
                        shell.page_values[expression] = plain(value)
        if torch:
            torch.set_rng_state(generator)

    shell.events.register("post_run_cell", keep)


def page_values() -> str:
    """Return the values that were kept, in JSON, which may hold nan and inf."""
    import json

    from IPython import get_ipython

    return json.dumps(get_ipython().page_values)
