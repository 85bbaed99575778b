"""Bad files: each is refused in one line that says where and what to do, or read for what it is."""

import io
import time
import zipfile

import pytest

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.errors import UserError
from concatmt.segments.config import FileConfig
from concatmt.segments.formats import READERS, open_segments
from concatmt.segments.segment import SegmentedFile, Translated

CUE = "1\n00:00:01,000 --> 00:00:02,000\nHello there.\n\n"
PAGE = "<html><body><p>{}</p></body></html>"


def read(data: bytes | str, suffix: str, **settings: str) -> SegmentedFile:
    raw = data.encode() if isinstance(data, str) else data
    return open_segments(raw, f"a{suffix}", FileConfig(**settings))  # type: ignore[arg-type]


def zipped(members: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(name, text)
    return out.getvalue()


def encrypted(data: bytes) -> bytes:
    """The archive with the flag of encryption set for its first member, in both places."""
    out = bytearray(data)
    out[6] |= 1
    out[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(out)


def twice(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(name, "a")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr(name, "b")
    return out.getvalue()


BOMB = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]>' + PAGE.format("&y;")
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + PAGE.format("&x;")
REFUSED = [
    (".srt", CUE.replace("-->", "->"), "no line of times"),
    (".srt", CUE.replace("01,000", "0l,000"), "line 2: '00:00:0l,000 --> 00:00:02,000' is not"),
    (".srt", "", "no line of times"),
    (".srt", CUE.encode("utf-16")[2:], "--encoding utf-16-le"),
    (".srt", CUE.replace("Hello", "H\xe9llo").encode("cp1252"), "try --encoding cp1252"),
    (".txt", b"caf\xe9", "byte 3 is not utf-8; if it is an old file, try --encoding cp1252"),
    (".vtt", CUE, "first line of a WebVTT file"),
    (".ass", "[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,x\n", "line 2: a Dialogue before"),
    (".xhtml", BOMB, "line 1: declares an entity"),
    (".xhtml", OUTSIDE, "line 1: declares an entity"),
    (".xlf", BOMB, "line 1: declares an entity"),
    (".xlf", "<xliff><file>", "line 1: not well-formed"),
    (".xlf", "<tmx/>", "not an XLIFF file"),
    (".docx", b"\xd0\xcf\x11\xe0 old Word", "not a zip archive"),
    (".docx", zipped({"word/document.xml": BOMB}), "declares an entity"),
    (".docx", zipped({"word/document.xml": "0" * 30_000_000}), "such archives are refused"),
    (".docx", zipped({"../../etc/x": "a", "word/document.xml": "<a/>"}), "leaves the archive"),
    (".docx", zipped({"/etc/x": "a", "word/document.xml": "<a/>"}), "leaves the archive"),
    (".docx", zipped({"c\\..\\..\\x": "a", "word/document.xml": "<a/>"}), "leaves the archive"),
    (".docx", zipped({"word/document.xml": "<a/>"})[:-30], "not a zip archive"),
    (".docx", encrypted(zipped({"word/document.xml": "<a/>"})), "cannot read"),
    (".docx", "twice", "the same name"),
    (".epub", zipped({"META-INF/container.xml": "<c/>"}), "names no package document"),
    (".epub", zipped({"mimetype": "x"}), "no member 'META-INF/container.xml'"),
    (".epub", zipped({"META-INF/container.xml": '<c full-path="../b.opf"/>'}), "no member"),
    (".pdf", b"%PDF", "known are .srt"),
]


@pytest.mark.parametrize(("suffix", "data", "message"), REFUSED)
def test_a_bad_file_is_refused_in_one_line(suffix: str, data: bytes | str, message: str) -> None:
    content = twice("word/document.xml") if data == "twice" else data
    with pytest.raises(UserError) as caught:
        read(content, suffix)
    told = str(caught.value)
    assert message in told
    assert "\n" not in told


def test_an_encoding_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UserError, match="--encoding klingon: Python does not know"):
        read(CUE, ".srt", encoding="klingon")


def test_old_files_are_read_and_written_in_the_encoding_that_is_given() -> None:
    data = CUE.replace("Hello", "H\xe9llo").encode("cp1252")
    file = read(data, ".srt", encoding="cp1252")
    out, summary = file.with_translations([Translated("\xc9t\xe9.")])
    assert out == data.replace(b"H\xe9llo there.", b"\xc9t\xe9.")
    assert not any(summary.counts.get(name) for name in summary.counts if "UTF-8" in name)


def test_a_translation_that_does_not_fit_an_old_encoding_is_written_as_utf_8() -> None:
    file = read(CUE.encode("cp1252"), ".srt", encoding="cp1252")
    out, summary = file.with_translations([Translated("\u041f\u0440\u0438\u0432\u0435\u0442.")])
    assert "\u041f\u0440\u0438\u0432\u0435\u0442." in out.decode("utf-8")
    assert [count for name, count in summary.counts.items() if "UTF-8" in name] == [1]


def test_a_page_in_an_old_encoding_says_so_itself_and_gets_references() -> None:
    page = '<html><head><meta charset="iso-8859-1"></head><body><p>caf\xe9</p></body></html>'
    file = read(page.encode("latin-1"), ".html")
    assert file.segments[0].text == "caf\xe9"
    out = file.with_translations([Translated("\u043a \xe9")])[0]
    assert b"<p>&#1082; \xe9</p>" in out


def test_two_films_in_one_file_are_two_documents() -> None:
    later = CUE.replace("00:00:0", "01:00:0")
    file = read(later + "\ufeff" + CUE, ".srt")
    assert [segment.gap for segment in file.segments] == [False, True]
    out = file.with_translations([Translated("Un."), Translated("Deux.")])[0].decode()
    assert out == later.replace("Hello there.", "Un.") + "\ufeff" + CUE.replace(
        "Hello there.", "Deux."
    )


def test_an_entity_of_xhtml_is_a_character_and_nothing_is_fetched() -> None:
    doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://127.0.0.1:9/none.dtd">'
    file = read(doctype + PAGE.format("A&nbsp;b &eacute;."), ".xhtml")
    assert file.segments[0].text == "A b \xe9."


@pytest.mark.parametrize(
    "suffix", [".srt", ".vtt", ".ass", ".txt", ".md", ".html", ".xlf", ".docx"]
)
def test_a_document_without_a_letter_comes_back_as_it_was(suffix: str) -> None:
    text = {
        ".srt": CUE.replace("Hello there.", "... 12!"),
        ".vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n...\n",
        ".ass": "[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,...\n",
        ".txt": "12 + 30 = 42\n\n***\n",
        ".md": "---\n\n1. 2\n",
        ".html": PAGE.format("12 &amp; 3"),
        ".xlf": "<xliff><source>12</source><trans-unit><source>3</source></trans-unit></xliff>",
    }
    data = (
        text[suffix].encode()
        if suffix in text
        else zipped(
            {"word/document.xml": '<w:d xmlns:w="u"><w:p><w:r><w:t>12</w:t></w:r></w:p></w:d>'}
        )
    )
    file = read(data, suffix)
    assert list(file.segments) == []
    assert file.with_translations([])[0] == data


def test_formats_that_are_read_are_named_in_the_refusal_of_others() -> None:
    with pytest.raises(UserError) as caught:
        read(b"", ".odt")
    assert all(suffix in str(caught.value) for suffix in READERS)


@pytest.mark.parametrize(
    ("suffix", "piece"),
    [(".txt", "x"), (".txt", "a."), (".md", "["), (".md", "!["), (".md", "{{"), (".md", "a@")],
)
def test_a_line_of_one_piece_is_read_in_proportion_to_its_length(suffix: str, piece: str) -> None:
    def seconds(length: int) -> float:
        begin = time.process_time()
        list(read(piece * (length // len(piece)) + "\n", suffix).segments)
        return time.process_time() - begin

    seconds(2_000)
    # Sixteen times the length took 250 times as long, many minutes for a file of a megabyte.
    assert seconds(64_000) < 60 * max(seconds(4_000), 0.004)
