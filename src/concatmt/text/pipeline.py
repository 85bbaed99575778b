"""The text pipeline of a language pair: two codecs, how they are learnt, saved and loaded.

One folder holds everything that is needed to encode and decode: `text.json` and the files of the
chosen kind, all readable by a person but for a SentencePiece model.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from concatmt.errors import UserError
from concatmt.files import hash_file, hash_text, read_json, write_json, write_text
from concatmt.settings import Settings, parse_settings
from concatmt.text.bpe import Merge, Segmenter, learn_merges, read_codes, write_codes
from concatmt.text.codec import Codec
from concatmt.text.marian import MarianCodec, MarianConfig, opus_normalise
from concatmt.text.moses_bpe import (
    MosesBpeCodec,
    MosesBpeConfig,
    count_pieces,
    moses_normalise,
    moses_tokenizer,
)
from concatmt.text.sentence_piece import (
    SentencePieceCodec,
    SentencePieceConfig,
    learn_sentencepiece,
)
from concatmt.text.vocabulary import Vocabulary
from concatmt.text.whitespace import WhitespaceCodec, WhitespaceConfig, count_words

TextConfig = Annotated[
    MosesBpeConfig | SentencePieceConfig | WhitespaceConfig | MarianConfig,
    Field(discriminator="kind"),
]
SIDES = ("source", "target")
Sentences = Callable[
    [], Iterable[str]
]  # starts a new pass over the normalised training sentences of one side


class Languages(Settings):
    """Codes of the two languages, such as `en`; the Moses rules depend on them."""

    source: str = "en"
    target: str


class TextSettings(Settings):
    """What `text.json` holds."""

    languages: Languages
    text: TextConfig


@dataclass(frozen=True)
class TextPipeline:
    """Source and target codec; with a joint vocabulary both use the same ids."""

    settings: TextSettings
    source: Codec
    target: Codec

    @property
    def joint(self) -> bool:
        """Whether both languages share one vocabulary."""
        return self.settings.text.vocabulary == "joint"

    def save(self, folder: Path) -> None:
        """Write the pipeline into `folder`, created if necessary."""
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "text.json", self.settings.model_dump(mode="json"))
        for name, codec in self._codecs().items():
            if isinstance(codec, SentencePieceCodec):
                (folder / f"{name}.model").write_bytes(codec.model)
                write_text(folder / f"{name}.vocab", "\n".join(codec.vocabulary.symbols) + "\n")
                continue
            codec.vocabulary.save(folder / f"{name}.vocab")
        for side, codec in zip(SIDES, (self.source, self.target), strict=True):
            if isinstance(codec, MosesBpeCodec):
                write_codes(folder / f"{side}.codes", codec.segmenter.merges)
            elif isinstance(codec, MarianCodec):
                (folder / f"{side}.spm").write_bytes(codec.model)

    def _codecs(self) -> dict[str, Codec]:
        if self.joint:
            return {"joint": self.source}
        return {"source": self.source, "target": self.target}

    @classmethod
    def load(cls, folder: Path) -> "TextPipeline":
        """Read what `save` wrote."""
        settings = read_text_settings(folder)
        names = ("joint", "joint") if settings.text.vocabulary == "joint" else SIDES
        try:
            source, target = (
                _load_codec(settings, folder, side, name)
                for side, name in zip(SIDES, names, strict=True)
            )
        except FileNotFoundError as error:
            raise UserError(f"{folder}: the text pipeline lacks {error.filename}") from error
        return cls(settings, source, target)

    @classmethod
    def fingerprint(cls, folder: Path) -> str:
        """A hash of all files of a saved pipeline: equal hashes mean equal ids."""
        files = sorted(path for path in folder.iterdir() if path.is_file())
        return hash_text("".join(f"{path.name} {hash_file(path)}\n" for path in files))


def read_text_settings(folder: Path) -> TextSettings:
    """The settings of a saved pipeline."""
    tree = read_json(folder / "text.json", "text pipeline")
    return parse_settings(TextSettings, tree, str(folder / "text.json"))


def _load_codec(settings: TextSettings, folder: Path, side: str, name: str) -> Codec:
    config = settings.text
    if isinstance(config, SentencePieceConfig):
        path = folder / f"{name}.model"
        return SentencePieceCodec(path.read_bytes(), config.lowercase, str(path))
    vocabulary = Vocabulary.load(folder / f"{name}.vocab")
    if isinstance(config, WhitespaceConfig):
        return WhitespaceCodec(vocabulary, config.lowercase)
    if isinstance(config, MarianConfig):
        model = (folder / f"{side}.spm").read_bytes()
        return MarianCodec(model, vocabulary, config, side == "source")
    return _moses_bpe(settings, config, side, read_codes(folder / f"{side}.codes"), vocabulary)


def _moses_bpe(
    settings: TextSettings,
    config: MosesBpeConfig,
    side: str,
    merges: list[Merge],
    vocabulary: Vocabulary,
) -> MosesBpeCodec:
    allowed = vocabulary.ids if config.threshold > 1 else None
    language: str = getattr(settings.languages, side)
    return MosesBpeCodec(config, language, Segmenter(merges, allowed), vocabulary)


def normaliser(settings: TextSettings, side: str) -> Callable[[str], str]:
    """The function that normalises a side's text; it needs nothing learnt."""
    config = settings.text
    if isinstance(config, MosesBpeConfig):
        language = getattr(settings.languages, side)
        tokenizer = moses_tokenizer(language) if config.tokenise else None
        return lambda text: moses_normalise(tokenizer, text, config)
    if isinstance(config, MarianConfig):
        return opus_normalise if config.normalise == "opus" else str
    lower = (lambda text: text.lower()) if config.lowercase else str
    if isinstance(config, WhitespaceConfig):
        return lambda text: " ".join(lower(text).split())
    return lower


def learn_pipeline(settings: TextSettings, source: Sentences, target: Sentences) -> TextPipeline:
    """Learn a pipeline from the normalised training sentences of both sides."""
    config = settings.text
    if isinstance(config, MarianConfig):
        raise UserError("text.kind: marian comes with an imported model; use prepare --text MODEL")
    if isinstance(config, SentencePieceConfig):
        return _learn_sentencepiece(settings, config, source, target)
    counts = count_words(source()), count_words(target())
    if isinstance(config, WhitespaceConfig):
        both = counts[0] + counts[1] if config.vocabulary == "joint" else None
        vocabularies = [
            Vocabulary.from_counts(both or of_side, config.threshold) for of_side in counts
        ]
        codecs: list[Codec] = [WhitespaceCodec(v, config.lowercase) for v in vocabularies]
        return TextPipeline(settings, *codecs)
    if config.codes_files:
        expected = 1 if config.codes == "joint" else 2
        if len(config.codes_files) != expected:
            raise UserError(f"text.codes_files: {config.codes} codes need {expected} file(s)")
        merges = [read_codes(path) for path in config.codes_files]
    elif config.codes == "joint":
        merges = [learn_merges(counts[0] + counts[1], config.merges)]
    else:
        merges = [learn_merges(of_side, config.merges) for of_side in counts]
    pieces = [
        count_pieces(Segmenter(of_side), words)
        for of_side, words in zip([merges[0], merges[-1]], counts, strict=True)
    ]
    if config.vocabulary == "joint":
        pieces = [pieces[0] + pieces[1]] * 2
    codecs = [
        _moses_bpe(settings, config, side, of_side, Vocabulary.from_counts(count, config.threshold))
        for side, of_side, count in zip(SIDES, [merges[0], merges[-1]], pieces, strict=True)
    ]
    return TextPipeline(settings, *codecs)


def _learn_sentencepiece(
    settings: TextSettings, config: SentencePieceConfig, source: Sentences, target: Sentences
) -> TextPipeline:
    def both() -> Iterable[str]:
        yield from source()
        yield from target()

    if config.vocabulary == "joint":
        models = [learn_sentencepiece(both(), config)] * 2
    else:
        models = [learn_sentencepiece(side(), config) for side in (source, target)]
    codecs = [SentencePieceCodec(model, config.lowercase) for model in models]
    return TextPipeline(settings, *codecs)
