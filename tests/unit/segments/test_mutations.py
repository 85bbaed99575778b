"""Real files with something broken: refused in one line, or read and written back whole."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.errors import UserError
from concatmt.segments.config import FileConfig
from concatmt.segments.cues import Cue
from concatmt.segments.formats import open_pieces, open_segments
from concatmt.segments.segment import SegmentedFile, Translated
from concatmt.segments.subtitles import Subtitles

FILES = sorted((Path(__file__).parents[2] / "data/files").iterdir())
FRAGMENTS = [
    *("-->", "\n\n", "\r", "♪", "<i>", "</i>", "{", "}", "[", "]", "(", ")", "- ", ">> ", "JOHN: "),
    *("...", "--", "\u202b", "&", "&amp;", "<", "1\n", "00:00:01,000 --> 00:00:02,000\n", "\ufeff"),
    *("\x85", "\u2028", "<b", '<mrk mtype="seg" mid="1">', "</mrk>", "<seg-source>", "<target/>"),
    *("**", "`", "# ", "|", "é", "\\N", "{\\i1}", "{\\pos(1,2)}", "\xa0", "A. b", "\x00", "\xff"),
]
# Where in the file, how many bytes go, and what comes instead.
CHANGE = st.tuples(
    st.floats(0, 1),
    st.integers(0, 30),
    st.sampled_from(FRAGMENTS),
    st.sampled_from(["utf-8", "latin-1"]),
)


def changed(data: bytes, changes: list[tuple[float, int, str, str]]) -> bytes:
    for where, gone, new, encoding in changes:
        at = int(where * len(data))
        data = data[:at] + new.encode(encoding, "ignore") + data[at + gone :]
    return data


def opened(data: bytes, path: Path) -> tuple[list[SegmentedFile], str]:
    """The pieces of a file, or why it is refused."""
    try:
        return list(open_pieces(io.BytesIO(data), path.name, FileConfig(), path.suffix)), ""
    except UserError as error:
        return [], str(error)


def cues(files: list[SegmentedFile]) -> list[tuple[int, int]]:
    found: list[Cue] = [cue for one in files if isinstance(one, Subtitles) for cue in one.cues]
    return [(cue.begins, cue.ends) for cue in found]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(FILES), st.lists(CHANGE, min_size=1, max_size=4))
def test_a_broken_file_is_refused_in_one_line_or_comes_back_whole(
    path: Path, changes: list[tuple[float, int, str, str]]
) -> None:
    data = changed(path.read_bytes(), changes)
    files, told = opened(data, path)
    if told:
        assert "\n" not in told
        return
    texts = [[Translated(one.text) for one in file.segments] for file in files]
    same = [file.with_translations(own)[0] for file, own in zip(files, texts, strict=True)]
    if path.suffix != ".xlf":  # gets the targets that it lacks
        assert b"".join(same) == data
    texts = [[Translated(f"{one.text} x") for one in file.segments] for file in files]
    out = [file.with_translations(own)[0] for file, own in zip(files, texts, strict=True)]
    again = open_segments(b"".join(out), path.name, FileConfig())
    assert cues([again]) == cues(files)
