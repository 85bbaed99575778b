"""Trials with files that come back as they were: subtitles, Markdown, pages, XLIFF, books, Word.

What is whole may not be refused, and must come back with the same cues, blocks or members, which is
counted here by other means than the program's. The others are damaged in their bytes, or in those
of a member of the archive.
"""

import html
import io
import random
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.fuzz.damage import copy, damage_bytes
from tests.fuzz.documents import ODD_SENTENCES
from tests.fuzz.oracle import Command, Done
from tests.fuzz.trial import Trial
from tests.fuzz.workbench import QUICK, Workbench, make_documents

Writer = Callable[[list[str]], bytes]
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LONGEST = 300  # characters of a sentence; longer ones are tried as plain text
TIME = re.compile(rb"\d\d:\d\d[:,.\d]+ --> \S+")


def _srt(sentences: list[str]) -> bytes:
    cues = (
        f"{n}\n00:00:{n % 60:02},000 --> 00:00:{n % 60:02},900\n{line}\n"
        for n, line in enumerate(sentences, start=1)
    )
    return "\n".join(cues).encode()


def _vtt(sentences: list[str]) -> bytes:
    cues = (
        f"00:{n % 60:02}.000 --> 00:{n % 60:02}.900 align:start\n{html.escape(line)}\n"
        for n, line in enumerate(sentences, start=1)
    )
    return ("WEBVTT\n\nNOTE x\n\n" + "\n".join(cues)).encode()


def _ass(sentences: list[str]) -> bytes:
    head = "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name\nStyle: Default\n\n"
    events = "[Events]\nFormat: Layer, Start, End, Style, Text\n" + "".join(
        f"Dialogue: 0,0:00:{n % 60:02}.00,0:00:{n % 60:02}.90,Default,{{\\i1}}{line}{{\\i0}}\n"
        for n, line in enumerate(sentences)
    )
    return (head + events).encode()


def _markdown(sentences: list[str]) -> bytes:
    blocks = [f"# {sentences[0]}", *(f"- *{line}*" for line in sentences), "```\ncode\n```"]
    return ("\n\n".join(blocks) + "\n").encode()


def _page(sentences: list[str]) -> bytes:
    paragraphs = "".join(f"<p>{html.escape(line)} <b>b</b></p>\n" for line in sentences)
    head = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head>'
    return f"{head}<body>{paragraphs}</body></html>".encode()


def _xliff(sentences: list[str]) -> bytes:
    units = "".join(
        f"<trans-unit id='{n}'><source>{html.escape(line)}<x id='1'/></source></trans-unit>"
        for n, line in enumerate(sentences)
    )
    head = '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file><body>'
    return f"{head}{units}</body></file></xliff>".encode()


def _archive(members: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return content.getvalue()


def _epub(sentences: list[str]) -> bytes:
    half = len(sentences) // 2
    chapters = {f"c{n}.xhtml": one for n, one in enumerate((sentences[:half], sentences[half:]))}
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    package = f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>"
    container = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    members = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": container.encode(),
        "p.opf": package.encode(),
        **{name: _page(one) for name, one in chapters.items()},
    }
    return _archive(members)


def _docx(sentences: list[str]) -> bytes:
    paragraphs = "".join(
        f"<w:p><w:r><w:t>{html.escape(line)}</w:t></w:r></w:p>" for line in sentences
    )
    document = f'<w:document xmlns:w="{WORD}"><w:body>{paragraphs}</w:body></w:document>'
    return _archive({"[Content_Types].xml": b"<Types/>", "word/document.xml": document.encode()})


WRITERS: dict[str, Writer] = {
    "srt": _srt,
    "vtt": _vtt,
    "ass": _ass,
    "md": _markdown,
    "html": _page,
    "xhtml": _page,
    "xlf": _xliff,
    "epub": _epub,
    "docx": _docx,
}
ARCHIVES = ("epub", "docx")
ENTITIES = b'<!DOCTYPE x [<!ENTITY a "ha">' + b"".join(
    b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 20) for n in range(9)
)


def shape(kind: str, data: bytes) -> object:
    """What a translation may not change."""
    if kind in ("srt", "vtt"):
        return TIME.findall(data)
    if kind == "ass":
        return re.findall(rb"^Dialogue: [^,]*,[^,]*,[^,]*,[^,]*,", data, re.MULTILINE)
    if kind == "md":
        return data.count(b"```\ncode\n```"), len(re.findall(rb"^- ", data, re.MULTILINE))
    if kind in ARCHIVES:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            pages = [n for n in archive.namelist() if n.endswith((".xhtml", "document.xml"))]
            return archive.namelist(), [_elements(archive.read(name)) for name in pages]
    return len(re.findall(rb"<p\b", data)) if kind == "html" else _elements(data)


def _elements(data: bytes) -> list[str]:
    """Names of all elements that hold text; of XLIFF, those that are there once for a sentence."""
    names = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(data).iter()]
    return [name for name in names if name in ("p", "b", "t", "trans-unit", "source")]


def _damaged(draw: random.Random, kind: str, data: bytes) -> bytes:
    way = draw.randrange(6)
    if kind in ARCHIVES and way < 4:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        victim = draw.choice(list(members))
        if way == 0:
            del members[victim]
        elif way == 1:
            members[victim] = bytes(9_000_000)  # a small archive that is a large one
        else:
            members[victim] = damage_bytes(draw, members[victim])
        return _archive(members)
    if kind in ("xlf", "xhtml") and way == 0:
        return (
            ENTITIES + b"]>" + data.replace(b"<p>", b"<p>&j;").replace(b"<source>", b"<source>&j;")
        )
    for _ in range(draw.choice([1, 1, 3])):
        data = damage_bytes(draw, data)
    return data


def markup_file(draw: random.Random, bench: Workbench, folder: Path) -> Trial:
    """`translate` of a file with markup: whole ones come back around their translations."""
    kind = draw.choice(list(WRITERS))
    [(sentences, _)] = make_documents(draw, 1, 8)
    odd = [line for line in ODD_SENTENCES if len(line) < LONGEST and line.isprintable()]
    sentences = [draw.choice(odd) if draw.random() < 0.3 else line for line in sentences]
    data = WRITERS[kind](sentences)
    hurt = draw.random() < 0.5
    name = f"in.{kind}"
    (folder / name).write_bytes(_damaged(draw, kind, data) if hurt else data)
    copy(bench / draw.choice(["pieces", "bpe"]), folder / "model")
    options = draw.choice([[], [], ["--nbest", "2"], ["--mode", "redecode"], ["--resume"]])
    command = Command(("translate", "model", name, "--output", f"out.{kind}", *QUICK, *options))

    def check(done: Sequence[Done]) -> str | None:
        written = (folder / f"out.{kind}").read_bytes()
        if hurt or shape(kind, written) == shape(kind, data):
            return None
        return f"other cues, blocks or members: {shape(kind, written)} for {shape(kind, data)}"

    what = f"{kind}, damaged: {'yes' if hurt else 'no'}"
    return Trial((command,), check, (f".out.{kind}.journal",), what, must_end=not hurt)
