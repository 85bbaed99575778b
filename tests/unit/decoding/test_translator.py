"""Documents through the Python API and through a job: one sentence in, one sentence out."""

import io
import random
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from concatmt.corpus.lines import ReadReport
from concatmt.corpus.parts import Part
from concatmt.decoding.chunks import ChunkSize, cut_chunks
from concatmt.decoding.config import PoolConfig, SearchConfig, TranslateConfig
from concatmt.decoding.inputs import read_parts
from concatmt.decoding.job import Job, translate_stream
from concatmt.decoding.loading import LoadedModel
from concatmt.decoding.outputs import Writer
from concatmt.decoding.translation import Passage, Report
from concatmt.decoding.translator import Translator
from concatmt.errors import UserError
from concatmt.progress import progress

QUICK = TranslateConfig(
    search=SearchConfig(beam=2, length_factor=0.5, length_constant=2), pool=PoolConfig(threads=1)
)
REDECODE = QUICK.model_copy(update={"mode": "redecode"})
DOCUMENT = ["The house is old.", "It has a garden.", "Anna likes it.", "She reads there."]
NASTY = [
    "</s>",
    "<end>",
    " _eos ",
    "<unk> <pad>",
    "\u2581",
    "😀",
    "漢字 \u200b x",
    "...",
    "a" * 300,
]


def make(folder: Path, config: TranslateConfig) -> Translator:
    loaded = LoadedModel.load(folder)
    return Translator(loaded.engine, loaded.text, config, loaded.identity)


@pytest.mark.parametrize("config", [QUICK, REDECODE])
def test_a_document_keeps_its_sentences_in_order(
    model_folder: Path, config: TranslateConfig
) -> None:
    translator = make(model_folder, config)
    sentences = [DOCUMENT[0], "", *NASTY, "   ", DOCUMENT[1]]
    found = translator.translate_document(sentences)
    assert [one.source for one in found] == sentences
    for one in found:
        assert bool(one.text) == bool(one.source.strip())
        assert one.text.isprintable() or "\n" not in one.text


def test_a_search_stops_by_the_rule_of_its_mode_or_the_one_that_is_chosen(
    model_folder: Path,
) -> None:
    assert "stop:likely" in str(make(model_folder, QUICK).signature)
    assert "stop" not in str(make(model_folder, REDECODE).signature)
    for config in (QUICK, REDECODE):
        rules = {}
        for stop in ("certain", "likely"):
            search = config.search.model_copy(update={"stop": stop})
            chosen = make(model_folder, config.model_copy(update={"search": search}))
            assert chosen.config.search.stop == stop
            rules[stop] = [one.score for one in chosen.translate_document(DOCUMENT)]
        own = [one.score for one in make(model_folder, config).translate_document(DOCUMENT)]
        assert own == rules["likely" if config.mode == "prefix" else "certain"]


def test_without_context_the_sentences_of_a_document_are_searched_together(
    model_folder: Path,
) -> None:
    alone = make(model_folder, QUICK.model_copy(update={"context": 0}))
    sentences = [DOCUMENT[i % 4][i % 3 :] for i in range(30)]
    passage = Passage([*sentences, "", sentences[0]], given=[None] * 30 + [None, "Fest."])
    (found,), report = alone.translate_passages([passage])
    assert report.guessed == report.searches == 0  # no guesses where nothing depends on another
    assert [one.text for one in found[30:]] == ["", "Fest."]
    for sentence, one in zip(sentences, found, strict=False):
        (wanted,) = alone.translate_document([sentence])
        assert one.text == wanted.text
        assert one.score == pytest.approx(wanted.score, abs=1e-4)


def test_nine_documents_are_enough_for_two_threads(model_folder: Path) -> None:
    class Watched(Translator):
        def _side_by_side(self, passages: Sequence[Passage]) -> Any:
            threads.add((self.config.pool.threads, threading.get_ident()))
            return super()._side_by_side(passages)

    loaded = LoadedModel.load(model_folder)
    found, threads = [], set[tuple[int, int]]()
    for count in (1, 2):
        config = QUICK.model_copy(update={"pool": PoolConfig(threads=count)})
        translator = Watched(loaded.engine, loaded.text, config)
        passages = [Passage(DOCUMENT[: 1 + i % 4]) for i in range(9)]
        documents, _ = translator.translate_passages(passages)
        found.append([[(one.text, one.score) for one in of] for of in documents])
    assert found[0] == found[1]
    assert [sum(on == count for on, _ in threads) for count in (1, 2)] == [1, 2]


def test_empty_sentences_never_serve_as_context(model_folder: Path) -> None:
    for config in (QUICK, REDECODE):
        translator = make(model_folder, config)
        with_gaps = [DOCUMENT[0], "", DOCUMENT[1], " ", "", DOCUMENT[2]]
        found = [one.text for one in translator.translate_document(with_gaps) if one.text]
        assert found == [one.text for one in translator.translate_document(DOCUMENT[:3])]


def test_a_stream_gives_what_the_document_gives(model_folder: Path) -> None:
    for config in (QUICK, REDECODE):
        translator = make(model_folder, config)
        whole = [one.text for one in translator.translate_document(DOCUMENT)]
        assert [one.text for one in translator.stream(DOCUMENT)] == whole
        many = list(translator.translate_documents([DOCUMENT] * 3))
        assert [[one.text for one in document] for document in many] == [whole] * 3


def test_after_an_edit_the_sentences_within_reach_follow(model_folder: Path) -> None:
    translator = make(model_folder, QUICK)
    document = translator.translate_document(DOCUMENT * 2)
    again = translator.retranslate(document, {})
    assert again == document
    edits = {1: "Es hat einen Garten.", 2: "Anna mag ihn."}
    edited = translator.retranslate(document, edits)
    assert [one.text for one in edited[:3]] == [document[0].text, *edits.values()]
    # The sentence after them is what these two lead to, as forced context.
    forced = QUICK.model_copy(update={"target_context": "gold"})
    gold = [*(one.text for one in edited[:3]), ""]
    follow = make(model_folder, forced).translate_document(DOCUMENT, gold)
    assert edited[3].text == follow[3].text
    assert edited[3].text != document[3].text
    with pytest.raises(UserError, match="edit of sentence 9"):
        translator.retranslate(document, {9: "x"})


def test_gold_context_is_forced_and_must_be_given(model_folder: Path) -> None:
    config = QUICK.model_copy(update={"target_context": "gold"})
    translator = make(model_folder, config)
    gold = ["Das Haus ist alt.", "Es hat einen Garten.", "Anna mag es.", "Sie liest dort."]
    windows = [one.alternatives[0].window for one in translator.translate_document(DOCUMENT, gold)]
    assert windows[2][:2] == gold[:2]
    assert windows[3][:2] == gold[1:3]
    with pytest.raises(UserError, match="no given translations"):
        translator.translate_document(DOCUMENT)


def test_long_sentences_are_split_copied_or_refused_and_counted(model_folder: Path) -> None:
    long = "The garden is green. " * 40
    for policy in ("split", "copy"):
        config = QUICK.model_copy(update={"long": policy, "max_tokens": 40})
        translator = make(model_folder, config)
        report = Report()
        found = translator.translate_document([DOCUMENT[0], long, DOCUMENT[1]], report=report)
        assert len(found) == 3
        assert (found[1].text == long) == (policy == "copy")
        assert found[1].text
        assert report.long == 1
        assert any(policy in line for line in report.messages(config))
    refusing = make(model_folder, QUICK.model_copy(update={"long": "error", "max_tokens": 40}))
    with pytest.raises(UserError, match="a sentence of .* tokens"):
        refusing.translate_document([long])


def test_context_is_left_out_before_a_window_gets_too_long(model_folder: Path) -> None:
    translator = make(model_folder, REDECODE.model_copy(update={"max_tokens": 30}))
    report = Report()
    translator.translate_document(DOCUMENT, report=report)
    assert report.trimmed > 0
    assert report.long == 0


def test_wrong_counts_are_reported_and_repaired(model_folder: Path) -> None:
    free = SearchConfig(beam=2, length_factor=0, length_constant=9, constrained=False)
    last = make(model_folder, REDECODE.model_copy(update={"search": free}))
    report = Report()
    assert len(last.translate_document(DOCUMENT, report=report)) == len(DOCUMENT)
    assert 0 < report.miscounts <= len(DOCUMENT)
    assert "wrong number of sentences in" in report.messages(last.config)[0]
    redo = REDECODE.model_copy(update={"search": free, "miscount": "retranslate"})
    again = make(model_folder, redo).translate_document(DOCUMENT)
    assert [len(one.alternatives[0].window) for one in again] == [1, 2, 3, 3]


def test_more_context_than_the_model_has_is_refused(model_folder: Path) -> None:
    with pytest.raises(UserError, match="at most 3"):
        make(model_folder, QUICK.model_copy(update={"context": 3}))


def test_unknown_words_are_counted_and_never_printed(tmp_path: Path) -> None:
    from concatmt.model.directory import save_model
    from concatmt.text.pipeline import Languages, TextSettings, learn_pipeline
    from concatmt.text.whitespace import WhitespaceConfig
    from tests.unit.decoding.models import make_model

    settings = TextSettings(languages=Languages(source="a", target="b"), text=WhitespaceConfig())
    pipeline = learn_pipeline(settings, lambda: ["x y z"], lambda: ["u v w"])
    save_model(tmp_path / "m", make_model("s4to4", 7), lambda f: pipeline.save(f / "text"))
    translator = make(tmp_path / "m", QUICK)
    report = Report()
    found = translator.translate_document(["x new y", "never seen"], report=report)
    assert report.unknown == 3
    assert "3 source tokens are unknown" in report.messages(QUICK)[0]
    assert not any("<unk>" in one.text for one in found)


def fuzzed_text(documents: int, seed: int = 0) -> bytes:
    """Documents of 0 to 4 lines of anything, with blank lines, tabs and control characters."""
    draw = random.Random(seed)
    pieces = [
        "house ",
        "Garten",
        " ",
        "\t",
        "\x07",
        "\u2028",
        "é",
        "😀",
        "</s>",
        "<end>",
        "_eos ",
        ".",
    ]
    text = ""
    for _ in range(documents):
        for _ in range(draw.choice((0, 1, 1, 2, 4))):
            text += "".join(draw.choices(pieces, k=draw.randint(0, 4))) + draw.choice(
                ("\n", "\r\n")
            )
        text += draw.choice(("\n", "\n", " \n"))
    return text.encode()


@pytest.mark.parametrize(("mode", "documents"), [("redecode", 8_000), ("prefix", 2_000)])
def test_ten_thousand_fuzzed_documents_have_as_many_lines_out_as_in(
    model_folder: Path, tmp_path: Path, mode: str, documents: int
) -> None:
    (tmp_path / "in.txt").write_bytes(fuzzed_text(documents))
    search = SearchConfig(beam=1, length_factor=0, length_constant=1)
    pool = PoolConfig(windows=256, tokens=1 << 16, threads=1)
    config = TranslateConfig(search=search, mode=mode, context=1, pool=pool)
    job = Job(make(model_folder, config), Writer("text"))
    output = io.StringIO()
    parts = read_parts(tmp_path / "in.txt", "text", 1024, ReadReport())
    with progress("test") as bar:
        translate_stream(job, parts, output, bar)
    lines_in = [
        line.strip("\r \t\x07\u2028") for line in fuzzed_text(documents).decode().split("\n")
    ]
    lines_out = output.getvalue().split("\n")
    assert [bool(line) for line in lines_out] == [bool(line) for line in lines_in]


def test_a_document_longer_than_a_chunk_goes_on_where_it_stopped(model_folder: Path) -> None:
    for config in (QUICK, REDECODE):
        translator = make(model_folder, config)
        whole = [one.text for one in translator.translate_document(DOCUMENT * 3)]
        job = Job(make(model_folder, config), Writer("text"))
        parts = [Part("1", first, (DOCUMENT * 3)[first : first + 5]) for first in (0, 5, 10)]
        chunks = list(cut_chunks(parts, ChunkSize(5, 9)))
        assert [chunk.group for chunk in chunks] == [0, 0, 0]
        assert "".join(job.translate(chunk).text for chunk in chunks).split("\n")[:-1] == whole
