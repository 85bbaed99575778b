"""Running text, web pages, XLIFF, EPUB and DOCX: the file comes back around its sentences."""

import io
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sentencex", reason="the extra `text` is not installed")

from concatmt.errors import UserError
from concatmt.segments.books import Epub
from concatmt.segments.running_text import RunningText
from concatmt.segments.segment import SegmentedFile, Translated
from concatmt.segments.web_pages import WebPage
from concatmt.segments.word_files import Docx
from concatmt.segments.xliff import Xliff
from concatmt.text.splitting import sentence_spans


def split(text: str) -> list[tuple[int, int]]:
    return sentence_spans(text, "en")


def sentences(file: SegmentedFile) -> list[str]:
    return [segment.text for segment in file.segments]


def identity(file: SegmentedFile) -> bytes:
    return file.with_translations([Translated(s) for s in sentences(file)])[0]


def marked(file: SegmentedFile) -> bytes:
    """Every word translated to itself with an x before it."""
    changed = [Translated(" ".join(f"x{w}" for w in s.split())) for s in sentences(file)]
    return file.with_translations(changed)[0]


MARKDOWN = """# A title here

This is a paragraph that was wrapped by hand at some sixty
characters. It goes on here. And it ends
with a short line.

- One *item* of `code` here.
- A [link text](http://x.y) follows.

```
code. Not text.
```
| a | b |

Last. Line without end"""


def test_markdown_keeps_its_code_links_and_lists() -> None:
    file = RunningText(MARKDOWN.encode(), "a.md", split, markdown=True)
    assert sentences(file)[1:3] == [
        "This is a paragraph that was wrapped by hand at some sixty characters.",
        "It goes on here.",
    ]
    assert identity(file).decode() == MARKDOWN
    out = marked(file).decode().splitlines()
    assert out[0] == "# xA xtitle xhere"
    assert "- xOne *xitem* xof `code` xhere." in out
    assert "- xA [xlink xtext](http://x.y) xfollows." in out
    assert "code. Not text." in out
    assert "| a | b |" in out
    assert max(map(len, out)) <= 60  # wrapped again at the width it had


def test_what_grows_too_long_in_a_wrapped_text_is_wrapped_too() -> None:
    text = (
        "    It rained all day, and nobody\ncame to see us. The road was gone.\n\n"
        " 1. Keep the light for them.\n 2. Keep the log.\n"
    )
    file = RunningText(text.encode(), "a.txt", split)
    assert sentences(file)[0] == "It rained all day, and nobody came to see us."
    long = [Translated(f"{s} So it is, and so it was.") for s in sentences(file)]
    assert file.with_translations(long)[0].decode() == (
        "    It rained all day, and nobody\ncame to see us. So it is, and so\nit was. The road was"
        " gone. So it\nis, and so it was.\n\n 1. Keep the light for them. So it\n    is, and so it"
        " was.\n 2. Keep the log. So it is, and so\n    it was.\n"
    )
    assert identity(file).decode() == text


def test_lines_of_markdown_are_one_paragraph_unless_a_sentence_or_a_hard_break_ends_them() -> None:
    text = "* item one\n  goes on\n* two\n\nOne.\nTwo here\nand there.\n\nHard  \nbreak\n"
    file = RunningText(text.encode(), "a.md", split, markdown=True)
    assert sentences(file) == ["item one goes on", "two", "One.", "Two here and there.", "Hard",
                               "break"]  # fmt: skip
    assert identity(file).decode() == text


def test_lines_are_sentences_where_that_is_asked_for() -> None:
    text = "One. Two.\n\nthree\n"
    file = RunningText(text.encode(), "a.txt", split, kind="lines")
    assert sentences(file) == ["One. Two.", "three"]
    assert marked(file).decode() == "xOne. xTwo.\n\nxthree\n"


PAGE = """<!DOCTYPE html><html><head><title>My page &amp; more</title><style>p {x}</style></head>
<body><p class='x'>Hello <b>big</b> world. It&nbsp;is <a href="a>b">here</a>.</p><!-- c > d -->
<pre>no text</pre><ul><li>One<li>Two <code>x = 1</code> three.</ul><p translate=no>Not this</p>
<script>var a = "<p>no</p>";</script><p>Open <i>end"""


def test_a_page_is_translated_block_by_block() -> None:
    file = WebPage(PAGE.encode(), "a.html", split)
    assert sentences(file) == [
        "My page & more",
        "Hello big world.",
        "It is here.",
        "One",
        "Two three.",
        "Open end",
    ]
    assert identity(file).decode() == PAGE
    out = marked(file).decode()
    assert "<title>xMy xpage x&amp; xmore</title>" in out
    assert "<p class='x'>xHello <b>xbig</b> xworld." in out
    assert "<li>xTwo <code>x = 1</code> xthree.</ul><p translate=no>Not this</p>" in out
    assert '<script>var a = "<p>no</p>";</script><p>xOpen <i>xend' in out


def test_a_break_parts_words_and_two_of_them_part_paragraphs() -> None:
    text = "<p>First<br>second.<br/> <br>Third<wbr>one&shy;s</p>"
    file = WebPage(text.encode(), "a.html", split)
    assert sentences(file) == ["First second.", "Thirdones"]
    assert identity(file).decode() == text
    assert marked(file).decode().startswith("<p>xFirst <br>xsecond.<br/> <br>")


def test_addresses_are_no_sentences() -> None:
    text = "<p><a href='x'>http://a.org/b</a></p><p>a.b@c.org</p><p>See www.c.org now.</p>"
    assert sentences(WebPage(text.encode(), "a.html", split)) == ["See www.c.org now."]


def test_what_a_page_protects_stays_and_what_fields_say_is_translated() -> None:
    text = "<p class='x notranslate'>Keep</p><input placeholder='Name'><p translate=no>Keep</p>"
    file = WebPage(text.encode(), "a.html", split)
    assert sentences(file) == ["Name"]
    assert marked(file).decode() == text.replace("Name", "xName")


def test_a_title_without_a_full_stop_gets_none() -> None:
    file = WebPage(b"<h1>The old <b>boat</b></h1><p>It sank.</p>", "a.html", split)
    out = file.with_translations([Translated("Le vieux bateau."), Translated("Il a sombr\xe9.")])[0]
    assert "bateau</b></h1><p>Il a sombr\xe9.</p>" in out.decode()


def archive(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(name, text)
    return out.getvalue()


def word(body: str) -> bytes:
    return archive(
        {"word/document.xml": f'<w:document xmlns:w="u"><w:body>{body}</w:body></w:document>'}
    )


def test_formats_of_runs_go_with_their_words() -> None:
    data = word(
        "<w:p><w:r><w:t>Hello </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>big</w:t></w:r>"
        "<w:r><w:t> world.</w:t></w:r></w:p><w:p/>"
    )
    file = Docx(data, "a.docx", split)
    assert sentences(file) == ["Hello big world."]
    assert identity(file) == data
    out = zipfile.ZipFile(io.BytesIO(marked(file))).read("word/document.xml").decode()
    assert '<w:t xml:space="preserve">xHello </w:t>' in out
    assert '<w:rPr><w:b/></w:rPr><w:t xml:space="preserve">xbig</w:t>' in out
    assert '<w:t xml:space="preserve"> xworld.</w:t>' in out


def test_chapters_of_a_book_come_in_the_order_of_its_spine() -> None:
    page = '<?xml version="1.0"?><html xmlns="h"><body><p>{}</p></body></html>'
    data = archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<c><rootfile full-path="OPS/book.opf"/></c>',
            "OPS/book.opf": '<package><manifest><item id="a" href="a.xhtml" '
            'media-type="application/xhtml+xml"/><item id="b" href="b%20b.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="b"/>'
            '<itemref idref="a"/></spine></package>',
            "OPS/a.xhtml": page.format("Second."),
            "OPS/b b.xhtml": page.format("First."),
            "OPS/cover.png": "not text",
        }
    )
    file = Epub(data, "a.epub", split)
    assert sentences(file) == ["First.", "Second."]
    assert [segment.gap for segment in file.segments] == [True, True]
    assert identity(file) == data
    out = zipfile.ZipFile(io.BytesIO(marked(file)))
    assert out.namelist()[0] == "mimetype"
    assert b"<p>xSecond.</p>" in out.read("OPS/a.xhtml")
    assert out.read("OPS/cover.png") == b"not text"


def test_tables_of_contents_are_translated_after_the_chapters() -> None:
    page = '<?xml version="1.0"?><html xmlns="h"><body><{0}>{1}</{0}></body></html>'
    ncx = (
        '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://127.0.0.1'
        ':9/none.dtd"><ncx xmlns="n"><head><meta name="dtb:uid" content="A b"/></head><navMap>'
        '<navPoint id="p"><navLabel><text>One.</text></navLabel><content src="a.xhtml"/></navPoint>'
        "</navMap></ncx>"
    )
    data = archive(
        {
            "META-INF/container.xml": '<c><rootfile full-path="b.opf"/></c>',
            "b.opf": '<p><item id="n" href="n.xhtml" media-type="application/xhtml+xml" '
            'properties="scripted nav"/><item id="x" href="t.ncx" '
            'media-type="application/x-dtbncx+xml"/><item id="gone" href="gone.ncx" '
            'media-type="application/x-dtbncx+xml"/><item id="a" href="a.xhtml" '
            'media-type="application/xhtml+xml"/><itemref idref="a"/></p>',
            "n.xhtml": page.format("li", '<a href="a.xhtml">One.</a>'),
            "t.ncx": ncx,
            "a.xhtml": page.format("h1", "One."),
        }
    )
    file = Epub(data, "a.epub", split)
    assert sentences(file) == ["One."] * 3
    assert identity(file) == data
    out = zipfile.ZipFile(io.BytesIO(marked(file)))
    assert out.read("t.ncx").decode() == ncx.replace("One.", "xOne.")
    assert b'<a href="a.xhtml">xOne.</a>' in out.read("n.xhtml")


def xml_page(data: bytes) -> WebPage:
    return WebPage(data, "a.xhtml", split, xml=True)


@pytest.mark.parametrize(
    ("read", "data", "message"),
    [
        (xml_page, b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "declares an entity"),
        (xml_page, b"<a><b></a>", "not well-formed"),
        (lambda d: Xliff(d, "a.xlf", split), b"<a/>", "not an XLIFF file"),
        (lambda d: Docx(d, "a.docx", split), b"PK", "not a zip archive"),
        (lambda d: Docx(d, "a.docx", split), archive({"x": "y"}), "not a DOCX file"),
        (lambda d: Docx(d, "a.docx", split), archive({"../x": "y"}), "leaves the archive"),
        (lambda d: Docx(d, "a.docx", split), archive({"x": "0" * 30_000_000}), "refused"),
        (lambda d: Epub(d, "a.epub", split), archive({"x": "y"}), "no member"),
        (lambda d: WebPage(d, "a.html", split), b"caf\xe9", "--encoding cp1252"),
    ],
)
def test_bad_files_are_refused_in_one_line(
    read: Callable[[bytes], object], data: bytes, message: str
) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read(data)
    assert "\n" not in str(caught.value)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "Hello there.",
                " and",
                "\n",
                "\r\n",
                "\n\n",
                "- ",
                "# ",
                "**",
                "`x`",
                "[a](b)",
                "  ",
                "é — ü",
                "A long line of words that goes on and on until it is wrapped",
                "_",
                "1. ",
                "> ",
                "```\n",
            ]
        ),
        max_size=25,
    ),
    st.booleans(),
)
def test_any_text_comes_back_as_it_was(parts: list[str], markdown: bool) -> None:
    text = "".join(parts)
    assert identity(RunningText(text.encode(), "a", split, markdown=markdown)).decode() == text


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "Hello there.",
                " and",
                "\n",
                "<p>",
                "</p>",
                "<b>",
                "</b>",
                "<br>",
                "&amp;",
                "&#233;",
                "&",
                "<",
                "<!-- x -->",
                "<code>",
                "</code>",
                "<pre>",
                "</pre>",
                "é",
                '<a href="x>y">',
                "<script>",
                "&eacute",
            ]
        ),
        max_size=25,
    )
)
def test_any_page_comes_back_as_it_was(parts: list[str]) -> None:
    text = "".join(parts)
    assert identity(WebPage(text.encode(), "a", split)).decode() == text
