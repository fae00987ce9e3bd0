"""Have the libraries of a page print full precision: each function stands alone, as injected ones.

Invisible separators enclose what else is known of a number, such as its dtype;
:mod:`sphinx_drift.compare.precise` reads them.
"""


def print_numpy_in_full() -> None:
    """Make arrays and their elements print all the digits that they have.

    Invisible separators enclose the dtype after a number of an array, or one taken out of one.
    """
    import builtins
    import importlib
    from typing import Any

    numpy: Any = importlib.import_module("numpy")
    separator = "\N{INVISIBLE SEPARATOR}"
    write, set_options = builtins.print, numpy.set_printoptions

    def with_dtype(value: Any) -> str:
        return f"{float(value)!r}{separator}{value.dtype}{separator}"

    def print_with_dtypes(*values: Any, **options: Any) -> None:
        kind = () if options.get("file") else numpy.floating
        write(*(with_dtype(v) if isinstance(v, kind) else v for v in values), **options)

    def set_printoptions(*args: Any, **options: Any) -> None:
        set_options(*args, **options)
        set_options(precision=17, formatter={"float": with_dtype})

    numpy.set_printoptions = set_printoptions
    set_printoptions()
    builtins.print = print_with_dtypes


def print_torch_in_full() -> None:
    """Make tensors and their elements print all the digits that they have.

    Invisible separators enclose what else is known: after a number its dtype, or a star if it was
    computed from such a number; after a tensor its dtype, and the largest number of the tensor
    that it is a part of.
    """
    import importlib
    from typing import Any

    torch: Any = importlib.import_module("torch")
    separator = "\N{INVISIBLE SEPARATOR}"
    set_options = torch.set_printoptions

    def set_printoptions(*args: Any, **options: Any) -> None:
        set_options(*args, **options)
        set_options(precision=17)

    class Single(float):
        """A number that was taken out of a float32 tensor, or computed from such a number."""

        known = "*"
        """What is known of it: its dtype as long as nothing else was computed from it."""

        def __repr__(self) -> str:
            return f"{float.__repr__(self)}{separator}{self.known}{separator}"

        __str__ = __repr__

        def __format__(self, form: str) -> str:
            text = float.__format__(self, form)
            if text.strip(" +-%").isdigit():  # a whole number, which is compared as it is
                return text
            # The spaces of a field of some width part it from what stands beside it.
            before, after = text[: -len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
            plus = "+" * ("+" in form and self >= 0)
            number = repr(self)
            if form.endswith("%"):
                number = f"{float(self) * 100!r}{separator}*{separator}%"
            return f"{before}{plus}{number}{after}"

        def __round__(self, ndigits: Any = None) -> Any:
            return round(float(self)) if ndigits is None else self

        def __reduce__(self) -> Any:
            return float, (float(self),)

    # A page may print what type it has.
    Single.__module__, Single.__name__, Single.__qualname__ = "builtins", "float", "float"

    def computed(name: str) -> Any:
        plain = getattr(float, name)

        def method(self: float, *others: Any) -> Any:
            result = plain(self, *others)
            return Single(result) if type(result) is float else result

        return method

    binary = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
    for name in (*binary, *(f"r{name}" for name in binary), "neg", "pos", "abs"):
        setattr(Single, f"__{name}__", computed(f"__{name}__"))

    narrow = (torch.float32, torch.float16, torch.bfloat16)
    plain = {name: getattr(torch.Tensor, name) for name in ("item", "tolist", "__repr__")}
    is_printing = False

    def single(value: Any, known: str) -> Any:
        if isinstance(value, list):
            return [single(item, known) for item in value]
        if type(value) is not float:
            return value
        number = Single(value)
        number.known = known
        return number

    def take(name: str) -> Any:
        def method(tensor: Any) -> Any:
            value = plain[name](tensor)
            if is_printing or tensor.dtype not in narrow:
                return value
            return single(value, str(tensor.dtype).removeprefix("torch."))

        return method

    def show(tensor: Any, **options: Any) -> str:
        nonlocal is_printing
        before, is_printing = is_printing, True  # a tensor prints its items
        try:
            text = plain["__repr__"](tensor, **options)
            known = f"{tensor.dtype} {largest(tensor)}".removeprefix("torch.")
            return f"{text}{separator}{known}{separator}"
        finally:
            is_printing = before

    def largest(tensor: Any) -> str:
        base = tensor if tensor._base is None else tensor._base
        try:
            sizes = base.detach().abs()
            return str(sizes[sizes.isfinite()].max().item())
        except (RuntimeError, NotImplementedError):  # it is empty or sparse, say
            return ""

    torch.set_printoptions = set_printoptions
    set_printoptions()
    for name in ("item", "tolist"):
        setattr(torch.Tensor, name, take(name))
    torch.Tensor.__repr__ = show


IN_FULL = {"numpy": print_numpy_in_full, "torch": print_torch_in_full}
"""What makes each library that a page has imported print full precision."""
