"""Text pipelines: what is encoded comes back, is saved and loaded, never becomes special."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concatmt.errors import UserError
from concatmt.settings import parse_settings
from concatmt.text.pipeline import TextPipeline, TextSettings, learn_pipeline, normaliser
from concatmt.text.vocabulary import SPECIALS, UNK

ENGLISH = [
    "It was late, and nobody answered.",
    "Who's there, she asked?",
    "The lamp on the table was still warm.",
    "Don't touch it & don't ask: 100% of us agree!",
]
GERMAN = [
    "Es war spät, und niemand antwortete.",
    "Wer ist da, fragte sie?",
    "Die Lampe auf dem Tisch war noch warm.",
    "Fass es nicht an & frag nicht: 100% von uns sind einverstanden!",
]
KINDS: list[dict[str, Any]] = [
    {"kind": "whitespace"},
    {"kind": "whitespace", "vocabulary": "joint", "lowercase": True},
    {"kind": "moses-bpe", "merges": 60},
    {"kind": "moses-bpe", "merges": 60, "codes": "separate", "vocabulary": "separate"},
    {"kind": "moses-bpe", "merges": 60, "threshold": 3, "lowercase": True},
    {"kind": "moses-bpe", "merges": 60, "tokenise": False},
    {"kind": "sentencepiece", "size": 400},
    {"kind": "sentencepiece", "size": 400, "vocabulary": "separate"},
]
# No surrogates: they are not characters. No line ends or controls: readers have removed them.
ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")))


def learn(text: dict[str, Any]) -> TextPipeline:
    tree = {"languages": {"source": "en", "target": "de"}, "text": text}
    settings = parse_settings(TextSettings, tree, "test")
    source, target = (normaliser(settings, side) for side in ("source", "target"))
    return learn_pipeline(
        settings, lambda: map(source, ENGLISH * 3), lambda: map(target, GERMAN * 3)
    )


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: "-".join(map(str, kind.values())))
def pipeline(request: pytest.FixtureRequest) -> TextPipeline:
    return learn(request.param)


def test_training_sentences_come_back_as_they_were(pipeline: TextPipeline) -> None:
    config = pipeline.settings.text
    if getattr(config, "threshold", 1) > 1:
        pytest.skip("a threshold makes rare characters unknown")
    for codec, sentences in ((pipeline.source, ENGLISH), (pipeline.target, GERMAN)):
        for sentence in sentences:
            expected = sentence.lower() if config.lowercase else sentence
            assert codec.decode(codec.encode(sentence)) == expected


def test_a_saved_pipeline_gives_the_same_ids(pipeline: TextPipeline, tmp_path: Path) -> None:
    pipeline.save(tmp_path)
    loaded = TextPipeline.load(tmp_path)
    for ours, theirs in ((pipeline.source, loaded.source), (pipeline.target, loaded.target)):
        assert len(ours) == len(theirs)
        for sentence in [*ENGLISH, *GERMAN]:
            assert ours.encode(sentence) == theirs.encode(sentence)


def test_learning_twice_gives_the_same_files(pipeline: TextPipeline, tmp_path: Path) -> None:
    pipeline.save(tmp_path / "a")
    learn(pipeline.settings.text.model_dump()).save(tmp_path / "b")
    assert TextPipeline.fingerprint(tmp_path / "a") == TextPipeline.fingerprint(tmp_path / "b")


@given(ANY_TEXT)
def test_no_text_becomes_a_special_token(pipeline: TextPipeline, text: str) -> None:
    for sentence in (text, *SPECIALS, " _eos ", f"{text} </s> {text} <end>"):
        ids = pipeline.source.encode(sentence)
        assert all(i == UNK or i >= len(SPECIALS) for i in ids)


@given(ANY_TEXT)
def test_sentencepiece_is_lossless_on_any_text(text: str) -> None:
    codec = _sentencepiece().source
    assert codec.decode(codec.encode(text)) == text


_cache: list[TextPipeline] = []


def _sentencepiece() -> TextPipeline:
    if not _cache:
        _cache.append(learn({"kind": "sentencepiece", "size": 400}))
    return _cache[0]


@given(st.lists(st.sampled_from(" ".join(ENGLISH).split())))
def test_whitespace_text_comes_back_from_known_words(words: list[str]) -> None:
    codec = learn({"kind": "whitespace"}).source
    assert codec.decode(codec.encode(" ".join(words))) == " ".join(words)


def test_a_joint_vocabulary_gives_both_sides_the_same_ids() -> None:
    pipeline = learn({"kind": "moses-bpe", "merges": 60})
    assert pipeline.source.encode("warm") == pipeline.target.encode("warm")


def test_existing_codes_are_used(tmp_path: Path) -> None:
    learn({"kind": "moses-bpe", "merges": 20}).save(tmp_path)
    codes = str(tmp_path / "source.codes")
    pipeline = learn({"kind": "moses-bpe", "codes_files": [codes]})
    pieces = pipeline.source.vocabulary.decode(pipeline.source.encode("answered"))
    again = learn({"kind": "moses-bpe", "merges": 20}).source
    assert pieces == again.vocabulary.decode(again.encode("answered"))


def test_a_pipeline_that_lost_a_file_is_refused(pipeline: TextPipeline, tmp_path: Path) -> None:
    pipeline.save(tmp_path)
    next(tmp_path.glob("*.vocab")).unlink()
    for path in tmp_path.glob("*.model"):
        path.unlink()
    with pytest.raises(UserError, match="lacks"):
        TextPipeline.load(tmp_path)
