"""`concatmt convert`: a pretrained model becomes a model directory of ours."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app


class SeparatorStart(StrEnum):
    """How the separator's row starts."""

    copy = "copy"
    mean = "mean"


class Frequencies(StrEnum):
    """Whose position table the model gets."""

    port = "port"
    marian = "marian"


class Normalisation(StrEnum):
    """What is done to text before it is cut into pieces."""

    opus = "opus"
    none = "none"


@app.command()
def convert(
    path: Annotated[Path, typer.Argument(help="A MarianMT directory of Hugging Face (OPUS-MT).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model directory to write.")],
    system: Annotated[
        str, typer.Option(help="base translates single sentences; s4to4 and others windows.")
    ] = "base",
    separator: Annotated[
        SeparatorStart, typer.Option(help="How the separator starts: as <end>, or as the mean.")
    ] = SeparatorStart.copy,
    positions: Annotated[
        Frequencies, typer.Option(help="Position frequencies: transformers' port, or Marian's own.")
    ] = Frequencies.port,
    label: Annotated[
        str | None, typer.Option(help="Language of a multilingual model, as in '>>deu<<'.")
    ] = None,
    normalise: Annotated[
        Normalisation, typer.Option(help="Punctuation as in OPUS-MT's training data, or as it is.")
    ] = Normalisation.opus,
) -> None:
    """Turn a pretrained OPUS-MT model into a model directory.

    Every tensor and option finds its place or is refused: what is written computes the same. With
    a system of windows the number of sentences is guaranteed at once, good content only after
    training on documents.

    **Examples**

        concatmt convert opus-mt-en-fr --output model

        concatmt convert opus-mt-en-fr --system s4to4+cd --output windows
    """
    from dataclasses import replace

    from concatmt.convert.hugging_face import import_hugging_face
    from concatmt.convert.imported import save_imported
    from concatmt.convert.windows import with_system
    from concatmt.model.systems import parse_system, system_name

    imported = import_hugging_face(path, positions.value)
    settings = {"normalise": normalise.value, "label": label}
    imported = replace(imported, text=imported.text.model_copy(update=settings))
    if system != "base":
        wanted = parse_system(system)
        imported = replace(
            imported, model=with_system(imported.model, wanted, separator.value, None)
        )
    save_imported(imported, output)
    model = imported.model
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(
        f"{output}: {system_name(model.config.system)}, {parameters:,} parameters,"
        f" {len(imported.source):,} source and {len(imported.target):,} target symbols"
    )
    if model.config.system.sentences > 1:
        print(
            "never trained on windows: the number of sentences is right, their content is not"
            " until it is trained on documents"
        )
