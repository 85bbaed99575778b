"""An imported model with its text pipeline, and how it is written to a model directory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from concatmt.errors import UserError
from concatmt.model.card import CARRIED, Origin, write_card
from concatmt.model.directory import save_model
from concatmt.model.transformer import Transformer
from concatmt.text.marian import MarianCodec, MarianConfig, labels_of
from concatmt.text.pipeline import Languages, TextPipeline, TextSettings
from concatmt.text.vocabulary import Vocabulary

PAPERS = ("README.md", "LICENSE")  # come with a model and are carried along
OPUS_LICENCE = "not stated in the original's files; OPUS-MT's models are CC-BY 4.0, by Helsinki-NLP"


@dataclass(frozen=True)
class Imported:
    """What every importer returns."""

    model: Transformer
    text: TextPipeline
    origin: Origin
    papers: Mapping[str, bytes] = field(default_factory=dict)  # readme and licence by their names


def marian_pipeline(
    settings: MarianConfig,
    languages: tuple[str, str],
    vocabularies: tuple[Vocabulary, Vocabulary],
    models: tuple[bytes, bytes],
    origin: str,
) -> TextPipeline:
    """The text side of Marian's models: vocabularies and SentencePiece models of both sides.

    A model of several target languages needs one of them as its label.
    """
    source, target = vocabularies
    labels = labels_of(source)
    if len(labels) > 1 and settings.label is None:
        raise UserError(
            f"{origin}: translates into several languages; choose one with --label:"
            f" {', '.join(labels[:20])}"
        )
    joint = source.symbols == target.symbols
    settings = settings.model_copy(update={"vocabulary": "joint" if joint else "separate"})
    return TextPipeline(
        TextSettings(languages=Languages(source=languages[0], target=languages[1]), text=settings),
        MarianCodec(models[0], source, settings, source=True),
        MarianCodec(models[1], target, settings, source=False),
    )


def licence_of(papers: Mapping[str, bytes]) -> str:
    """The licence according to the original's files: the head of a card, or a LICENSE."""
    for line in papers.get("README.md", b"").decode("utf-8", "replace").splitlines()[:60]:
        name, colon, value = line.partition(":")
        if colon and name.strip().lower() in ("license", "licence") and value.strip():
            return value.strip().strip("'\"")
    text = papers.get("LICENSE", b"").decode("utf-8", "replace")
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first[:100] or OPUS_LICENCE


def save_imported(imported: Imported, folder: Path) -> None:
    """Write the model directory, with a card that says where it comes from."""
    config, origin = imported.model.config, imported.origin
    languages = imported.text.settings.languages

    def write(inside: Path) -> None:
        imported.text.save(inside / "text")
        write_card(inside, (languages.source, languages.target), config, origin, _facts(imported))
        for name, content in imported.papers.items():
            (inside / f"{CARRIED}{name}").write_bytes(content)

    save_model(folder, imported.model, write)


def _facts(imported: Imported) -> dict[str, str]:
    positions = imported.model.config.architecture.positions
    parameters = sum(parameter.numel() for parameter in imported.model.parameters())
    facts = {
        "parameters": f"{parameters:,}",
        "positions": f"from {positions.first}, frequencies {positions.frequencies}",
    }
    text = imported.text.settings.text
    if isinstance(text, MarianConfig):
        label = f", label {text.label}" if text.label else ""
        facts["text"] = f"SentencePiece, normalised: {text.normalise}{label}"
    else:
        facts["text"] = "words between spaces, as in its dictionaries"
    return facts
