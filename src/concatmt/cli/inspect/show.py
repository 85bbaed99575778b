"""`concatmt inspect show`: print windows of a store as the model will see them."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.inspect import inspections


@inspections.command()
def show(
    store: Annotated[Path, typer.Argument(help="A store.")],
    split: Annotated[str, typer.Option(help="Which split.")] = "train",
    window: Annotated[int, typer.Option("--window", "-K", min=1, help="Sentences a window.")] = 4,
    first: Annotated[int, typer.Option(min=0, help="Sentence to start at, from 0.")] = 0,
    count: Annotated[int, typer.Option(min=1, help="How many windows.")] = 4,
) -> None:
    """Print windows: each sentence with its segment number k, tokens separated by spaces.

    **Examples**

        concatmt inspect show data

        concatmt inspect show data --split valid -K 3 --first 100 --count 2
    """
    from concatmt.corpus.store import Store
    from concatmt.corpus.windows import Windows
    from concatmt.errors import UserError
    from concatmt.text.vocabulary import SPECIALS

    opened = Store.open(store)
    windows = Windows.of(opened.split(split), window)
    if first >= len(windows):
        raise UserError(
            f"{store}: {split} has {len(windows):,} sentences, so none with number {first:,}"
        )
    sides = (
        ("source", opened.text.source.vocabulary, windows.split.source),
        ("target", opened.text.target.vocabulary, windows.split.target),
    )
    for current in range(first, min(first + count, len(windows))):
        n = int(windows.sentences[current])
        print(f"window {current}: {n} sentence{'s' if n > 1 else ''}")
        for k in range(n, 0, -1):
            closing = SPECIALS[3] if k == 1 else SPECIALS[2]
            for name, vocabulary, sentences in sides:
                tokens = " ".join(vocabulary.decode(sentences[current - k + 1]))
                print(f"  k={k} {name}  {tokens} {closing}")
