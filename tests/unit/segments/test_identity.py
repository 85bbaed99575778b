"""Nothing changes in a file whose translations are its own sentences, whatever its format.

Files that a person wrote are in tests/data/files, and the project's own documents are among them;
others are made of fragments by hypothesis.
"""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.segments.config import FileConfig
from concatmt.segments.formats import READERS, open_segments
from concatmt.segments.segment import SegmentedFile, Translated

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "tests/data/files").iterdir())
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("results/*.md")])


def identity(file: SegmentedFile) -> bytes:
    return file.with_translations([Translated(segment.text) for segment in file.segments])[0]


def changed(file: SegmentedFile) -> bytes:
    """Every word with an x before it, and aligned with itself."""
    return file.with_translations(
        [Translated(" ".join(f"x{w}" for w in segment.text.split())) for segment in file.segments]
    )[0]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_come_back_byte_for_byte_in_every_encoding(
    path: Path, encoding: str, end: str
) -> None:
    text = path.read_text(encoding="utf-8")
    if "x" in encoding or path.suffix not in (".xlf", ".xhtml"):
        data = text.replace("\n", end).encode(encoding)
    else:
        said = "UTF-16" if encoding == "utf-16" else "UTF-8"
        data = text.replace("\n", end).replace("UTF-8", said, 1).encode(encoding)
    file = open_segments(data, path.name, FileConfig())
    assert len(file.segments) > 1
    assert identity(file) == data
    assert changed(file) != data


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_projects_own_documents_come_back_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    assert identity(open_segments(data, path.name, FileConfig())) == data


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_is_no_sentence_stays_in_a_translated_file(path: Path) -> None:
    """Code, times, styles, notes: lines that say so in the files."""
    out = changed(open_segments(path.read_bytes(), path.name, FileConfig())).decode()
    kept = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if ("-->" in line and "<" not in line)
        or any(mark in line for mark in ("Style:", "Comment:", "\\k", "\\p1", "not prose",
               "Not prose", "verbatim", "NOTE", "::cue", "| --- |", "tags:", "<style", "ACME",
               "not touched", "Not this", "final"))
    ]  # fmt: skip
    for line in kept:
        assert line in out, line


def word(text: str, bold: bool) -> str:
    look = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:r>{look}<w:t xml:space="preserve">{text}</w:t></w:r>'


def archive(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(name, text)
    return out.getvalue()


WORDS = st.sampled_from(
    ["Hello there.", " and", " ", "“Oh,", "Dr. No", " &amp; more", "&#233;!", "123", " é — ü?"]
)
INLINE = st.sampled_from(
    ["<b>{}</b>", "<i>{}</i>", "<a href='x>y'>{}</a>", "{}<br/>", "{}<!--c-->"]
)
XLIFF_INLINE = st.sampled_from(
    [
        "<g id='1'>{}</g>",
        "{}<x id='2'/>",
        "<mrk mtype='protected'>{}</mrk>",
        "{}<ph id='3'>&lt;</ph>",
    ]
)


def markup(inline: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Nested elements around words."""
    return st.recursive(
        WORDS,
        lambda inner: st.one_of(
            st.tuples(inline, inner).map(lambda pair: pair[0].format(pair[1])),
            st.lists(inner, max_size=3).map("".join),
        ),
        max_leaves=6,
    )


PAGE = '<?xml version="1.0"?><html xmlns="h"><body>{}</body></html>'


def xhtml(parts: list[str]) -> bytes:
    return PAGE.format("".join(f"<p>{part}</p>\n" for part in parts)).encode()


def epub(parts: list[str]) -> bytes:
    half = len(parts) // 2
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<c><rootfile full-path="o/b.opf"/></c>',
            "o/b.opf": '<p><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/>'
            '<itemref idref="b"/><itemref idref="a"/></p>',
            "o/a.xhtml": xhtml(parts[:half]).decode(),
            "o/b.xhtml": xhtml(parts[half:]).decode(),
        }
    )


def xliff(parts: list[str]) -> bytes:
    units = "".join(
        f"<trans-unit id='{n}'><source>{part}</source><target>{part}</target></trans-unit>\r\n"
        for n, part in enumerate(parts)
    )
    return f"<xliff version='1.2'><file><body>{units}</body></file></xliff>".encode()


def docx(parts: list[str]) -> bytes:
    plain = [part.split("<")[0] for part in parts]
    runs = "".join(
        f"<w:p>{word(a, True)}{word(b, False)}</w:p>"
        for a, b in zip(plain, plain[::-1], strict=True)
    )
    return archive({"word/document.xml": f'<w:d xmlns:w="u"><w:body>{runs}</w:body></w:d>'})


@settings(max_examples=60)
@given(
    st.sampled_from([(xhtml, ".xhtml"), (xhtml, ".html"), (epub, ".epub"), (docx, ".docx")]),
    st.lists(markup(INLINE), min_size=2, max_size=5),
)
def test_made_pages_books_and_word_files_come_back(
    made: tuple[Callable[[list[str]], bytes], str], parts: list[str]
) -> None:
    data = made[0](parts)
    file = open_segments(data, f"a{made[1]}", FileConfig())
    assert identity(file) == data
    open_segments(changed(file), f"a{made[1]}", FileConfig())  # can be read again


@settings(max_examples=60)
@given(st.lists(markup(XLIFF_INLINE), min_size=1, max_size=5))
def test_made_jobs_come_back_and_keep_every_code(parts: list[str]) -> None:
    data = xliff(parts)
    file = open_segments(data, "a.xlf", FileConfig())
    assert identity(file) == data
    out = changed(file).decode()
    open_segments(out.encode(), "a.xlf", FileConfig())  # well-formed
    for code in ("<g id='1'>", "</g>", "<x id='2'/>", "<ph id='3'>&lt;</ph>"):
        assert out.count(code) == data.decode().count(code)


def test_every_format_has_a_file_or_is_made_here() -> None:
    suffixes = {path.suffix for path in FILES} | {".epub", ".docx"}
    same = {".ssa": ".ass", ".htm": ".html", ".xliff": ".xlf"}
    assert {same.get(suffix, suffix) for suffix in READERS} == suffixes
