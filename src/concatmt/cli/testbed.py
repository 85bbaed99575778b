"""`concatmt testbed`: a generated discourse corpus whose bounds are known exactly."""

from pathlib import Path
from typing import Annotated

import typer

from concatmt.cli.app import app
from concatmt.errors import UserError

SIZES, PHENOMENA, SHAPE, HELD_OUT = "Sizes", "Phenomena", "Sentences", "Held out of training"


@app.command("testbed")
def generate(
    pair: Annotated[str, typer.Option(help="Language pair: en-ru or en-de.")],
    output: Annotated[Path, typer.Option(help="Folder to write; an older testbed is replaced.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    documents: Annotated[
        int, typer.Option(help="Training documents.", rich_help_panel=SIZES)
    ] = 20_000,
    valid_documents: Annotated[
        int, typer.Option(help="Validation documents.", rich_help_panel=SIZES)
    ] = 500,
    test_documents: Annotated[
        int, typer.Option(help="Test documents.", rich_help_panel=SIZES)
    ] = 500,
    items: Annotated[
        int,
        typer.Option(
            help="Contrastive items per task at least: whole passes over its latent space.",
            rich_help_panel=SIZES,
        ),
    ] = 500,
    tasks: Annotated[
        str,
        typer.Option(
            help="Tasks, with commas between; all that the pair has unless given.",
            rich_help_panel=PHENOMENA,
        ),
    ] = "",
    weights: Annotated[
        str,
        typer.Option(
            help="How often scenes have a task, beside 1 for the others, as in pron=3,vp=3.",
            rich_help_panel=PHENOMENA,
        ),
    ] = "",
    density: Annotated[
        float,
        typer.Option(
            help="Share of scenes (runs of K sentences) with a context-dependent sentence.",
            rich_help_panel=PHENOMENA,
        ),
    ] = 0.5,
    window: Annotated[
        int,
        typer.Option(
            "--window", "-K", help="Sentences in a window, 4-8.", rich_help_panel=PHENOMENA
        ),
    ] = 4,
    scenes: Annotated[
        int | None,
        typer.Option(
            help="Scenes in a document, at most.",
            show_default="what 12 sentences hold",
            rich_help_panel=SHAPE,
        ),
    ] = None,
    around: Annotated[
        int,
        typer.Option(
            help="Ordinary sentences around the scenes of a document, at most.",
            rich_help_panel=SHAPE,
        ),
    ] = 4,
    distance: Annotated[
        int | None,
        typer.Option(
            help="How far back a cue may stand, 3 to K-1.",
            show_default="K-1",
            rich_help_panel=PHENOMENA,
        ),
    ] = None,
    speakers: Annotated[
        int,
        typer.Option(
            help="Speakers that take turns in tv and spk, 2 or 3.", rich_help_panel=PHENOMENA
        ),
    ] = 2,
    length: Annotated[
        float,
        typer.Option(help="Mean number of adjuncts in a sentence, 0-3.", rich_help_panel=SHAPE),
    ] = 0.65,
    length_shift: Annotated[
        float,
        typer.Option(
            help="Added to --length in the test and the contrastive sets.", rich_help_panel=SHAPE
        ),
    ] = 0.0,
    hold_out_distances: Annotated[
        str,
        typer.Option(help="Cue distances, with commas between.", rich_help_panel=HELD_OUT),
    ] = "",
    hold_out_words: Annotated[
        float,
        typer.Option(
            help="Share of words, up to 0.5, that training has in ordinary sentences alone.",
            rich_help_panel=HELD_OUT,
        ),
    ] = 0.0,
) -> None:
    """Generate documents in which some sentences need another one to be translated.

    Writes text, contrastive sets and a card with the best accuracy of every restricted observer.

    **Examples**

        concatmt testbed --pair en-ru --output data/testbed --seed 1

        concatmt testbed --pair en-de --output sparse --documents 8000 --density 0.15 -K 8

        concatmt testbed --pair en-ru --output turns --tasks tv,spk --speakers 3
    """
    from concatmt.testbed.card_text import summary
    from concatmt.testbed.corpus import write_testbed
    from concatmt.testbed.dials import parse_dials

    dials = parse_dials(
        pair=pair,
        seed=seed,
        documents=documents,
        valid_documents=valid_documents,
        test_documents=test_documents,
        items=items,
        tasks=tuple(_listed(tasks)),
        weights=dict(_weights(weights)),
        density=density,
        window=window,
        scenes=scenes,
        around=around,
        distance=distance,
        speakers=speakers,
        length=length,
        length_shift=length_shift,
        hold_out_distances=tuple(_distances(hold_out_distances)),
        hold_out_words=hold_out_words,
    )
    print(summary(write_testbed(dials, output), str(output)))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _weights(text: str) -> list[tuple[str, int]]:
    pairs = [part.partition("=") for part in _listed(text)]
    for task, _, weight in pairs:
        if not weight.isdecimal():
            raise UserError(f"--weights {task}: give its weight as in {task}=3")
    return [(task, int(weight)) for task, _, weight in pairs]


def _distances(text: str) -> list[int]:
    parts = _listed(text)
    for part in parts:
        if not part.isdecimal():
            raise UserError(f"--hold-out-distances {part}: not a whole number")
    return [int(part) for part in parts]
