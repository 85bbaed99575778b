"""BPE against subword-nmt, which defines it: same codes, same pieces."""

import io
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from concatmt.errors import UserError
from concatmt.text.bpe import Segmenter, join, learn_merges, read_codes, write_codes

TEXT = (
    """the lower the newest tower , the lowest fewer flowers grow
der lange Tag endet , die lange Nacht beginnt , das Lied endet nicht
она знала , что он знал , а он не знал ничего
"""
    * 3
)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C", "P")), min_size=1)


def subword_nmt_codes(text: str, merges: int) -> str:
    output = io.StringIO()
    learn_bpe(io.StringIO(text), output, merges)
    return output.getvalue()


def check_same_pieces(codes: Path, sentences: list[str]) -> None:
    oracle = BPE(codes.open(encoding="utf-8"))
    segmenter = Segmenter(read_codes(codes))
    for sentence in sentences:
        pieces = [piece for word in sentence.split() for piece in segmenter.segment(word)]
        assert " ".join(pieces) == oracle.process_line(sentence).strip()


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bpe") / "codes"
    path.write_text(subword_nmt_codes(TEXT, 60), encoding="utf-8")
    return path


def test_pieces_equal_subword_nmts_with_its_own_codes(codes: Path) -> None:
    check_same_pieces(codes, TEXT.splitlines())


@given(st.lists(WORDS, min_size=1, max_size=5).map(" ".join))
def test_pieces_equal_subword_nmts_on_any_words(codes: Path, sentence: str) -> None:
    check_same_pieces(codes, [sentence])


def test_pieces_equal_subword_nmts_on_a_real_corpus(shared: Path, tmp_path: Path) -> None:
    for language in ("en", "ru"):
        path = shared / "data" / "en-ru-subtitles" / f"dev.{language}"
        sentences = path.read_text(encoding="utf-8").splitlines()
        counts = Counter(word for sentence in sentences for word in sentence.split())
        write_codes(tmp_path / "codes", learn_merges(counts, 1500))
        check_same_pieces(tmp_path / "codes", sentences)


def test_a_vocabulary_threshold_splits_rare_pieces_as_subword_nmt_does(codes: Path) -> None:
    segmenter = Segmenter(read_codes(codes))
    counts = Counter(piece for word in TEXT.split() for piece in segmenter.segment(word))
    vocabulary = {piece for piece, count in counts.items() if count >= 9}
    restricted = Segmenter(read_codes(codes), vocabulary)
    oracle = BPE(codes.open(encoding="utf-8"), vocab=vocabulary)
    for sentence in TEXT.splitlines():
        pieces = [piece for word in sentence.split() for piece in restricted.segment(word)]
        assert " ".join(pieces) == oracle.process_line(sentence)


def test_codes_learnt_here_are_read_by_subword_nmt(tmp_path: Path) -> None:
    merges = learn_merges(Counter(TEXT.split()), 50)
    write_codes(tmp_path / "codes", merges)
    assert len(merges) == 50
    assert read_codes(tmp_path / "codes") == merges
    check_same_pieces(tmp_path / "codes", TEXT.splitlines())


def test_the_first_merge_is_the_most_frequent_pair() -> None:
    # By hand: "ab" stands 5 times, "bc" 3 times, nothing else more than once.
    merges = learn_merges({"ab": 5, "bc": 3}, 2)
    assert merges == [("a", "b</w>"), ("b", "c</w>")]


@given(st.lists(WORDS.filter(lambda word: "@@" not in word)))
def test_joining_undoes_segmenting(codes: Path, words: list[str]) -> None:
    segmenter = Segmenter(read_codes(codes))
    assert join(piece for word in words for piece in segmenter.segment(word)) == " ".join(words)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("e r\n", "not a BPE code file of version 0.2"),
        ("#version: 0.1\ne r\n", "only 0.2 is read"),
        ("#version: 0.2\ne r\nabc\n", "line 3: expected two symbols"),
    ],
)
def test_a_bad_code_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "codes").write_text(content)
    with pytest.raises(UserError, match=message):
        read_codes(tmp_path / "codes")


def test_codes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "codes").write_bytes(b"#version: 0.2\na \xff\n")
    with pytest.raises(UserError, match="codes: not UTF-8 at byte 16"):
        read_codes(tmp_path / "codes")
    (tmp_path / "endless").symlink_to("/dev/zero")
    with pytest.raises(UserError, match="endless: not a regular file"):
        read_codes(tmp_path / "endless")
