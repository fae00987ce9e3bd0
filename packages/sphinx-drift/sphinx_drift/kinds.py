"""The kinds of outcomes: what each means, its remedy, and the exit status that it leads to."""

from enum import Enum

_STATUS_UNKNOWN = 2


class Kind(Enum):
    """A kind of outcome: its meaning, its remedy, and the exit status that it leads to.

    A kind without a remedy is no failure.
    """

    VERIFIED = "the output is the documented one"
    UNCHECKED = "the output isn't checked, for the reason that is given"
    NOT_COMPARED = "the output holds on the reference environment alone, and this is another one"
    NO_EXPECTATION = "a cell prints and no expectation follows it, which this page needn't have"
    OTHER_VARIANT = "the output has another text here, so nobody looked at this one"
    DRIFT = (
        "the output is not the documented one",
        "mend the code, document the new output, or filter what each run prints anew",
    )
    UNDOCUMENTED = (
        "what is printed is documented nowhere",
        "let `--update` write it in the form that is shown",
    )
    PICTURE = (
        "a cell shows more or fewer pictures or widgets than its notebook has stored",
        "run the notebook and save it with its outputs",
    )
    VARIANT = (
        "not one of an output's variants holds here, or two do",
        "write a text for this case too, or conditions of which one holds: `:when: numpy>=2`",
    )
    NO_CELL = (
        "an expectation has no cell of its own straight above it",
        "move it straight after its cell, with nothing but blank lines between, or delete it",
    )
    EMPTY = (
        "an expectation has no text, so it would check nothing",
        "write what the cell prints, or delete the expectation",
    )
    NO_OUTPUT = (
        "nothing was printed where something is documented",
        "print it, or delete what documents it",
    )
    RAISED = (
        "an error was raised that is documented nowhere",
        "mend the code, or document the error: `:raises: ErrorType` on a page, else its traceback",
    )
    NOT_RAISED = (
        "the documented error wasn't raised",
        "mend the code, or delete what documents the error",
    )
    TIMEOUT = (
        "a cell didn't end in time",
        "make it faster, or raise `drift_timeout`, `--timeout` or the page's own limit",
        _STATUS_UNKNOWN,
    )
    OUTPUT_LIMIT = (
        "a cell printed more than a page may",
        "print less, or raise `drift_output_limit`",
        _STATUS_UNKNOWN,
    )
    DEAD_KERNEL = (
        "the process that runs the code ended",
        "run it alone to see why: it exits, memory is short, or compiled code crashes",
        _STATUS_UNKNOWN,
    )
    NOT_EXECUTED = (
        "a cell was not run",
        "mend what stopped its page, or say `:unchecked: reason` if a tag skips it",
        _STATUS_UNKNOWN,
    )
    NOTHING_CHECKED = (
        "no output was checked",
        "print something that matters and document it",
        _STATUS_UNKNOWN,
    )
    NESTED = (
        "a cell or expectation stands where it is never run or checked",
        "move it to the top level of a page; fold with gated `-start` and `-end` directives",
    )
    NOT_READ = (
        "what looks like a cell or an expectation isn't read as one",
        "write `{code-cell}` or `{expected-output}`, or end what is open; `~~~` shows cells",
    )
    OPTION = (
        "an option of an expectation, a cell or a page is missing, or can't be read",
        "write it as the manual says",
    )
    WAIVER = (
        "a waiver is not needed, or matches nothing",
        "delete the `:allow:` line, or correct its documented value",
    )
    UNREPEATABLE = (
        "a cell printed something else when it was run a second time",
        "seed or round it there, filter what varies, or say `:unchecked: reason` if not glued",
    )
    FAILED_WHEN_REPEATED = (
        "a cell failed when it was run a second time",
        "have it begin by removing what an earlier run has left, such as a folder",
    )
    UNREADABLE = (
        "a file or a docstring can't be read",
        "mend the file",
        _STATUS_UNKNOWN,
    )
    QUOTATION = (
        "a page can't quote this number, or glue this output",
        "quote it as the manual says, by a `:name:` of its own; seed or filter what is glued",
    )
    ELSEWHERE = (
        "the page imported a package that isn't the one of this project",
        "install this project: `python -m pip install --editable .`, by the Python that runs pages",
        _STATUS_UNKNOWN,
    )
    COULD_NOT_CHECK = (
        "the check itself failed, so nothing is known",
        "report it, with the page and the traceback",
        _STATUS_UNKNOWN,
    )

    def __init__(self, meaning: str, remedy: str = "", status: int | None = None) -> None:
        """Fill in the exit status: 2 where nothing is known, else 1 for a failure."""
        self.label = self.name.lower().replace("_", "-")
        self.status = int(bool(remedy)) if status is None else status
        self.meaning = meaning
        self.remedy = remedy

    @property
    def fails(self) -> bool:
        """Whether an outcome of this kind fails the build."""
        return self.status > 0

    @property
    def unknown(self) -> bool:
        """Whether it is unknown what would have been printed."""
        return self.status == _STATUS_UNKNOWN
