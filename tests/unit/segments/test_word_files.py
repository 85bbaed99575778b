"""DOCX files as python-docx writes them: formats go with their words, and Word can open them."""

import io
import zipfile

import pytest

pytest.importorskip("docx", reason="python-docx is not installed")
pytest.importorskip("sentencex", reason="the extra `text` is not installed")

import docx

from concatmt.segments.segment import Translated
from concatmt.segments.word_files import Docx
from concatmt.text.splitting import sentence_spans


def opened(data: bytes) -> Docx:
    return Docx(data, "a.docx", lambda text: sentence_spans(text, "en"))


def sentences(file: Docx) -> list[str]:
    return [segment.text for segment in file.segments]


def saved(document: object) -> bytes:
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()


def paragraph(*runs: tuple[str, str]) -> bytes:
    """A document of one paragraph; a run is its text and the letters of its format, b and i."""
    document = docx.Document()
    written = document.add_paragraph()
    for text, looks in runs:
        run = written.add_run(text)
        run.bold = True if "b" in looks else None
        run.italic = True if "i" in looks else None
    return saved(document)


def looks(data: bytes) -> list[tuple[str, str]]:
    (written,) = docx.Document(io.BytesIO(data)).paragraphs
    return [(run.text, "b" * bool(run.bold) + "i" * bool(run.italic)) for run in written.runs]


def test_formats_change_their_order_with_their_words() -> None:
    file = opened(paragraph(("The ", ""), ("red", "b"), (" ", ""), ("house", "i"), (" burns.", "")))
    assert sentences(file) == ["The red house burns."]
    links = ((0, 0), (1, 2), (2, 1), (3, 3), (4, 4))
    out = file.with_translations([Translated("La maison rouge brûle.", links)])[0]
    assert looks(out) == [
        ("La ", ""), ("maison", "i"), (" ", ""), ("rouge", "b"), (" brûle.", ""),
    ]  # fmt: skip


def test_runs_of_the_same_format_are_one_text_even_in_the_middle_of_a_word() -> None:
    file = opened(paragraph(("Hel", ""), ("lo", ""), (" big", "b"), (" wor", "b"), ("ld", "")))
    assert sentences(file) == ["Hello big world"]
    links = ((0, 0), (1, 2), (2, 1))
    out = file.with_translations([Translated("Bonjour monde grand", links)])[0]
    assert looks(out)[0] == ("Bonjour", "")
    assert "".join(text for text, _ in looks(out)) == "Bonjour monde grand"


def test_tables_notes_headers_and_links_are_read_and_written() -> None:
    document = docx.Document()
    document.add_heading("A title", 1)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Left cell.", "Right cell."
    document.sections[0].header.paragraphs[0].text = "The header."
    linked = document.add_paragraph("See ")
    link = docx.oxml.parse_xml(
        '<w:hyperlink xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
        'w:anchor="x"><w:r><w:t>our site</w:t></w:r></w:hyperlink>'
    )
    linked._p.append(link)
    linked.add_run(" now.")
    data = saved(document)
    file = opened(data)
    assert sorted(sentences(file)) == [
        "A title", "Left cell.", "Right cell.", "See our site now.", "The header.",
    ]  # fmt: skip
    assert file.with_translations([Translated(s) for s in sentences(file)])[0] == data
    changed = [
        Translated(s.upper(), tuple((n, n) for n in range(len(s.split()) + 1)))
        for s in sentences(file)
    ]
    again = docx.Document(io.BytesIO(file.with_translations(changed)[0]))
    assert [p.text for p in again.paragraphs] == ["A TITLE", "SEE OUR SITE NOW."]
    assert again.paragraphs[1].hyperlinks[0].text == "OUR SITE"
    assert again.tables[0].cell(0, 1).text == "RIGHT CELL."
    assert again.sections[0].header.paragraphs[0].text == "THE HEADER."


def test_notes_pictures_and_bookmarks_stay_in_their_paragraph() -> None:
    body = (
        '<w:p><w:bookmarkStart w:id="0" w:name="m"/><w:r><w:t>One</w:t></w:r>'
        '<w:bookmarkEnd w:id="0"/><w:r><w:rPr><w:b/></w:rPr><w:footnoteReference w:id="2"/></w:r>'
        '<w:r><w:t xml:space="preserve"> two</w:t></w:r><w:r><w:drawing><a><b>7</b></a></w:drawing>'
        "</w:r><w:r><w:t> three.</w:t></w:r><w:r><w:tab/><w:t>Four.</w:t></w:r></w:p>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "word/document.xml", f'<w:document xmlns:w="u"><w:body>{body}</w:body></w:document>'
        )
    file = opened(out.getvalue())
    assert sentences(file) == ["One two three.", "Four."]
    links = tuple((n, n) for n in range(4))
    changed = file.with_translations([Translated("Un deux trois.", links), Translated("Quatre.")])[
        0
    ]
    text = zipfile.ZipFile(io.BytesIO(changed)).read("word/document.xml").decode()
    for kept in (
        '<w:r><w:rPr><w:b/></w:rPr><w:footnoteReference w:id="2"/></w:r>',
        "<w:r><w:drawing><a><b>7</b></a></w:drawing></w:r>",
        '<w:bookmarkEnd w:id="0"/>',
        "<w:tab/><w:t",
    ):
        assert text.count(kept) == 1, kept
    assert text.index("Un<") < text.index("<w:footnoteReference") < text.index("deux")
    from xml.etree import ElementTree

    assert "".join(ElementTree.fromstring(text).itertext()) == "Un deux7 trois.Quatre."
