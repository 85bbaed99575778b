"""A foreign model that has become one of ours, with its text, and how it is written."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from concatmt import __version__
from concatmt.errors import UserError
from concatmt.files import write_text
from concatmt.model.directory import save_model
from concatmt.model.systems import system_name
from concatmt.model.transformer import Transformer
from concatmt.text.marian import MarianCodec, MarianConfig, labels_of
from concatmt.text.pipeline import Languages, TextPipeline, TextSettings
from concatmt.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Imported:
    """What an importer of Marian's models returns."""

    model: Transformer
    text: MarianConfig
    source: Vocabulary
    target: Vocabulary
    source_spm: bytes
    target_spm: bytes
    languages: tuple[str, str]
    origin: str  # for the model card
    papers: list[Path] = field(default_factory=list)  # readme and licence, to be carried along

    def pipeline(self) -> TextPipeline:
        """The text side."""
        source, target = self.languages
        settings = TextSettings(languages=Languages(source=source, target=target), text=self.text)
        return TextPipeline(
            settings,
            MarianCodec(self.source_spm, self.source, self.text, source=True),
            MarianCodec(self.target_spm, self.target, self.text, source=False),
        )


def save_imported(imported: Imported, folder: Path) -> None:
    """Write the model directory, with a card that says where it comes from."""
    labels = labels_of(imported.source)
    if len(labels) > 1 and imported.text.label is None:
        raise UserError(
            f"{imported.origin}: translates into several languages; choose one with --label:"
            f" {', '.join(labels[:20])}"
        )
    pipeline = imported.pipeline()

    def write(inside: Path) -> None:
        pipeline.save(inside / "text")
        write_text(inside / "README.md", model_card(imported))
        for paper in imported.papers:
            shutil.copyfile(paper, inside / f"ORIGINAL-{paper.name}")

    save_model(folder, imported.model, write)


def model_card(imported: Imported) -> str:
    """What a reader should know of the model."""
    config = imported.model.config
    source, target = imported.languages
    positions = config.architecture.positions
    lines = [
        f"# {source}-{target}, {system_name(config.system)}",
        "",
        f"Imported by concatmt {__version__} from {imported.origin}. The weights are the"
        " original's; its authors and licence are named in the ORIGINAL files beside this one,"
        " if it came with any (OPUS-MT: CC-BY 4.0, Helsinki-NLP).",
        "",
        f"Positions begin at {positions.first}, frequencies {positions.frequencies}; text"
        f" normalised: {imported.text.normalise}.",
    ]
    if config.system.sentences > 1:
        lines += ["", "Never trained on windows of sentences: train it before use."]
    return "\n".join([*lines, "", "    concatmt translate MODEL input.txt --output output.txt", ""])
