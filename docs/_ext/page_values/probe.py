"""What runs inside each page's kernel: it keeps the values that figures show.

Each function stands alone: it is sent to the kernel as source.
"""


def keep_page_values() -> None:
    """Keep the values that `_data/figures.toml` names, from now on, after each cell of a page."""
    import contextlib
    import sys
    import tomllib
    import warnings
    from pathlib import Path

    from IPython import get_ipython

    here = Path.cwd()
    tops = (folder for folder in (here, *here.parents) if (folder / "_data/figures.toml").is_file())
    top = next(tops, None)
    tables = tomllib.loads((top / "_data/figures.toml").read_text("utf-8")) if top else {}
    # A kernel knows the folder of its page, not the page.
    wanted = [
        (page, name, compile(expression, f"<figures.toml, {page}>", "eval"))
        for page, table in tables.items()
        if top and (top / page).parent == here
        for name, expression in table.items()
    ]
    shell = get_ipython()
    shell.page_values = {page: {} for page, _, _ in wanted}
    made: dict[str, dict[str, object]] = {page: {} for page in shell.page_values}
    limit = 10_000  # numbers; what is larger is shown by no figure

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
            for page, name, code in wanted:
                if name in made[page]:
                    continue
                with contextlib.suppress(Exception):  # it isn't made yet
                    value = eval(code, {**made[page], **shell.user_ns})  # noqa: S307 - ours
                    made[page][name] = value  # for those below, plain or not
                    shell.page_values[page][name] = plain(value)
        if torch:
            torch.set_rng_state(generator)

    shell.events.register("post_run_cell", keep)


def page_values() -> str:
    """Return the values that were kept, in JSON, which may hold nan and inf."""
    import json

    from IPython import get_ipython

    return json.dumps(get_ipython().page_values)
