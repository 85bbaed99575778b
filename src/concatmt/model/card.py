"""Model cards: writes the `README.md` of a model directory and the record of its origin.

`origin.json` says where the weights come from, under which licence, and what was done to them; each
conversion or training adds a step to it. The readme and the licence of the original are kept beside
it as `ORIGINAL-*`. Does not know foreign formats or how models are trained.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from concatmt.files import read_json, write_json, write_text
from concatmt.model.config import ModelConfig
from concatmt.model.systems import system_name
from concatmt.settings import Settings, parse_settings

CARD, ORIGIN = "README.md", "origin.json"
CARRIED = "ORIGINAL-"  # prefix of files that came with the original
UNTRAINED = (
    "the model was never trained on windows of sentences: the number of sentences is right, their"
    " content suffers, a little in --mode prefix, badly in redecode; train it on documents, or"
    " translate single sentences with --context 0"
)


class Origin(Settings):
    """Where a model comes from."""

    made_from: str  # such as `the Hugging Face directory opus-mt-en-fr`
    licence: str = "not stated"
    steps: list[str] = Field(default_factory=list)  # what was done to the original, in order
    trained_on_windows: bool = True  # False: converted to windows, and not trained since

    def after(self, step: str, trained_on_windows: bool | None = None) -> "Origin":
        """The record with one more step."""
        trained = self.trained_on_windows if trained_on_windows is None else trained_on_windows
        changes = {"steps": [*self.steps, step], "trained_on_windows": trained}
        return self.model_copy(update=changes)


def read_origin(folder: Path) -> Origin | None:
    """The record of a model directory; None if it has none, like models trained from scratch."""
    path = folder / ORIGIN
    if not path.is_file():
        return None
    return parse_settings(Origin, read_json(path, "model directory"), str(path))


def write_card(
    folder: Path,
    languages: tuple[str, str],
    config: ModelConfig,
    origin: Origin,
    facts: Mapping[str, str],
    figures: Mapping[str, str] | None = None,
) -> None:
    """Write the card and the record into a model directory.

    facts: what else a reader should know, such as data and recipe; figures: measurements.
    """
    write_json(folder / ORIGIN, origin.model_dump(mode="json"))
    write_text(folder / CARD, card_text(languages, config, origin, facts, figures or {}))


def carry_papers(model: Path, folder: Path) -> None:
    """Copy the original's readme and licence from one model directory to another."""
    for path in sorted(model.glob(f"{CARRIED}*")):
        if path.is_file():
            shutil.copyfile(path, folder / path.name)


def card_text(
    languages: tuple[str, str],
    config: ModelConfig,
    origin: Origin,
    facts: Mapping[str, str],
    figures: Mapping[str, str],
) -> str:
    """Markdown: what a reader should know of the model."""
    name = system_name(config.system)
    rows = {
        "system": f"{name}, windows of up to {config.system.sentences} sentences"
        if config.system.sentences > 1
        else f"{name}, single sentences",
        "made from": origin.made_from,
        "licence": origin.licence,
        "done since": "; ".join(origin.steps),
        **facts,
    }
    lines = [f"# {languages[0]}-{languages[1]}, {name}", "", *_table("fact", rows)]
    if not origin.trained_on_windows:
        lines += ["", f"**{UNTRAINED[0].upper()}{UNTRAINED[1:]}.**"]
    if figures:
        lines += ["", "## Figures", "", *_table("measure", figures)]
    use = ["## Use", "", "    concatmt translate MODEL input.txt --output output.txt"]
    return "\n".join([*lines, "", *use, ""])


def _table(title: str, rows: Mapping[str, str]) -> list[str]:
    cells = (f"| {name} | {' '.join(text.split())} |" for name, text in rows.items() if text)
    return [f"| {title} | |", "| --- | --- |", *cells]
