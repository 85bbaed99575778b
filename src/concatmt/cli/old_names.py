"""Old names of verbs: they work for one more version, with a hint on stderr.

Knows how a command was written and how it is written now. Does not know what verbs do.
"""

import sys
from collections.abc import Callable, Sequence

Words = list[str]
RATES = "7e-4,9e-4,1e-3,3e-3"  # the rates that a sweep tried by default
INSPECTIONS = ("attention", "compare", "context-use", "figure", "show", "stats")


def current(arguments: Sequence[str]) -> Words:
    """Rewrite a command with an old name, with a note to the user."""
    first, *rest = arguments or [""]
    if first in INSPECTIONS:
        new = ["inspect", first, *rest]
    elif first in _REWRITTEN:
        new = _REWRITTEN[first](rest)
    else:
        return list(arguments)
    shown = " ".join(new[: 2 if first in INSPECTIONS else 1])
    print(
        f"note: 'concatmt {first}' is now 'concatmt {shown}'; the next version drops"
        f" the old name (see concatmt {shown} --help)",
        file=sys.stderr,
    )
    return new


def _sweep(rest: Words) -> Words:
    given = any(word.partition("=")[0] == "--rates" for word in rest)
    return ["train", *rest, *([] if given else ["--rates", RATES])]


def _export(rest: Words) -> Words:
    kind, *others = rest or [""]
    return ["evaluate", *others, "--export", kind]


def _perturb(rest: Words) -> Words:
    renamed = [word.replace("--context", "--contexts", 1) for word in rest]
    return ["evaluate", *renamed, "--export", "perturbed"]


def _export_ctranslate2(rest: Words) -> Words:
    """The output folder used to be the second argument."""
    places = [
        place
        for place, word in enumerate(rest)
        if not word.startswith("-") and rest[place - 1 : place] != ["--quantization"]
    ]
    if len(places) > 1:
        rest = [*rest[: places[1]], "--output", *rest[places[1] :]]
    return ["convert", *rest, "--to", "ctranslate2"]


_REWRITTEN: dict[str, Callable[[Words], Words]] = {
    "contrast": lambda rest: ["score", *rest],
    "export": _export,
    "export-ctranslate2": _export_ctranslate2,
    "import-fairseq": lambda rest: ["convert", *rest],
    "perturb": _perturb,
    "sweep": _sweep,
}
