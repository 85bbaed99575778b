"""Long files in pieces: what comes out is what comes out of the whole file."""

import io
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.errors import UserError
from concatmt.segments import pieces
from concatmt.segments.config import FileConfig
from concatmt.segments.formats import open_pieces, open_segments
from concatmt.segments.segment import Segment, SegmentedFile, Translated

FILES = Path(__file__).parents[2] / "data/files"
SMALL = 300  # characters


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "PIECE", SMALL)
    monkeypatch.setattr(pieces, "BLOCK", 7)
    monkeypatch.setattr(pieces, "SAMPLE", 50)


def opened(data: bytes, suffix: str, **options: str) -> list[SegmentedFile]:
    config = FileConfig.model_validate(options)
    return list(open_pieces(io.BytesIO(data), f"a{suffix}", config, suffix))


def changed(file: SegmentedFile) -> tuple[bytes, dict[str, int]]:
    texts = [Translated(" ".join(f"x{w}" for w in one.text.split())) for one in file.segments]
    data, summary = file.with_translations(texts)
    return data, summary.counts


def together(found: list[SegmentedFile]) -> tuple[list[Segment], bytes, dict[str, int]]:
    counts: dict[str, int] = {}
    data = b""
    for piece in found:
        own, more = changed(piece)
        data += own
        counts |= {name: counts.get(name, 0) + count for name, count in more.items()}
    return [segment for piece in found for segment in piece.segments], data, counts


def in_format(suffix: str, cues: list[str], pauses: list[int]) -> str:
    out, at = [], 0
    for number, text in enumerate(cues):
        at += pauses[number % len(pauses)]
        times = [f"00:{t // 60000:02}:{t // 1000 % 60:02}.{t % 1000:03}" for t in (at, at + 900)]
        at += 900
        if suffix == ".ass":
            out.append(f"Dialogue: {times[0][1:-1]},{times[1][1:-1]},D,{text}\n")
        elif suffix == ".vtt":
            out.append(f"{times[0]} --> {times[1]}\n{text}\n\n")
        else:
            out.append(f"{number}\n{times[0]} --> {times[1]}\n{text}\n\n".replace(".", ",", 2))
    head = {".srt": "", ".vtt": "WEBVTT\n\nNOTE a --- b\n\n"}
    return head.get(suffix, "[Events]\nFormat: Start, End, Style, Text\n") + "".join(out)


WORDS = st.sampled_from(["Hello there.", "and", "♪", "One. two", "...", "Yes!", "- No.", ""])


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([".srt", ".vtt", ".ass"]),
    st.lists(st.tuples(WORDS, WORDS, st.just("Done.")), min_size=1, max_size=9),
    st.lists(st.sampled_from([100, 999, 1000, 2000, 30_000]), min_size=1, max_size=4),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_subtitles_in_pieces_are_those_of_the_whole_file(
    suffix: str, cues: list[tuple[str, str, str]], pauses: list[int], encoding: str, end: str
) -> None:
    text = in_format(suffix, [cue for three in cues for cue in three], pauses)
    data = text.replace("\n", end).encode(encoding)
    whole = open_segments(data, f"a{suffix}", FileConfig())
    assert together(opened(data, suffix)) == (list(whole.segments), *changed(whole))


@pytest.mark.parametrize("suffix", [".srt", ".vtt", ".ass"])
def test_a_long_file_is_cut_even_if_no_sentence_ever_ends(suffix: str) -> None:
    """As subtitles that were made by a machine: no full stop, no pause."""
    data = in_format(suffix, ["hello there my old friend"] * 40, [100]).encode()
    found = opened(data, suffix)
    assert len(found) > 5
    _, out, counts = together(found)
    assert counts["cues"] == 40
    assert out == data.replace(b"hello", b"xhello").replace(b" there", b" xthere").replace(
        b" my old friend", b" xmy xold xfriend"
    )
    assert b"".join(p.with_translations([Translated(s.text) for s in p.segments])[0]
                    for p in found) == data  # fmt: skip


PARAGRAPHS = st.lists(
    st.lists(
        st.sampled_from(["It rained all day.", "Nobody came to see us, and we", "slept.", "So?"]),
        min_size=1,
        max_size=9,
    ).map(" ".join),
    min_size=1,
    max_size=12,
)


@settings(max_examples=100, deadline=None)
@given(
    PARAGRAPHS,
    st.sampled_from(["auto", "sentences", "lines"]),
    st.sampled_from([50, 1000]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_texts_in_pieces_come_back_and_have_the_sentences_of_the_whole_file(
    paragraphs: list[str], split: str, width: int, encoding: str, end: str
) -> None:
    text = "\n\n".join(textwrap.fill(paragraph, width) for paragraph in paragraphs) + "\n"
    data = text.replace("\n", end).encode(encoding)
    found = opened(data, ".txt", split=split)
    assert b"".join(
        p.with_translations([Translated(s.text) for s in p.segments])[0] for p in found
    ) == data  # fmt: skip
    if split == "lines":
        config = FileConfig(split="lines")
        assert together(found)[0] == list(open_segments(data, "a.txt", config).segments)


def test_an_error_in_a_later_piece_names_the_line_and_the_byte_of_the_file() -> None:
    text = in_format(".srt", ["Hello there, my old friend."] * 30, [500])
    bad = text.replace("00:00:28", "00:00:2x")
    line = bad[: bad.index("00:00:2x")].count("\n") + 1
    with pytest.raises(UserError, match=f"a.srt, line {line}: "):
        opened(bad.encode(), ".srt")
    dialogues = in_format(".ass", ["Hello there, my old friend."] * 30, [500])
    bad = dialogues.replace("0:00:28", "0:00:2x")
    line = bad[: bad.index("0:00:2x")].count("\n") + 1
    with pytest.raises(UserError, match=f"a.ass, line {line}: "):
        opened(bad.encode(), ".ass")
    for place in (20, 1500):
        data = text.encode()
        with pytest.raises(UserError, match=f"byte {place} is not utf-8"):
            opened(data[:place] + b"\xe9" + data[place:], ".srt")


def test_a_file_in_an_encoding_that_may_lack_characters_is_one_piece() -> None:
    """Whether all of it is written as UTF-8 is known at its end."""
    data = in_format(".srt", ["Hello there, my old friend."] * 30, [500]).encode("cp1252")
    assert len(opened(data, ".srt", encoding="cp1252")) == 1


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_real_files_have_the_same_sentences_in_pieces(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "SAMPLE", 1000)  # a text shows what it is in less than that
    data = path.read_bytes()
    whole = open_segments(data, path.name, FileConfig())
    segments, _, counts = together(opened(data, path.suffix))
    assert [one.text for one in segments] == [one.text for one in whole.segments]
    assert counts == changed(whole)[1]
