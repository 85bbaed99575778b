"""Translation memories as training input."""

from pathlib import Path
from typing import Any

import pytest

from concatmt.corpus.document import Document
from concatmt.corpus.formats import format_named
from concatmt.corpus.formats.tmx import TmxFormat
from concatmt.corpus.lines import ReadReport
from concatmt.errors import UserError

MEMORY = """<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-GB"/><body>
<tu><tuv xml:lang="EN-GB"><seg>A <bpt i="1">&lt;b&gt;</bpt>first<ept i="1">&lt;/b&gt;</ept>
 <hi>line</hi>.</seg></tuv><tuv xml:lang="de-DE"><seg>Eine Zeile.</seg></tuv></tu>
<tu><tuv xml:lang="en-GB"><seg>Only English.</seg></tuv></tu>
<tu><tuv xml:lang="de-DE"><seg>Wer?</seg></tuv><tuv xml:lang="fr"><seg>Qui ?</seg></tuv>
<tuv xml:lang="en-GB"><seg>Who?</seg></tuv></tu></body></tmx>
"""


def read(tmp_path: Path, content: str | bytes, **settings: Any) -> list[Document]:
    data = content.encode() if isinstance(content, str) else content
    (tmp_path / "memory.tmx").write_bytes(data)
    format_ = TmxFormat(format="tmx", file=Path("memory.tmx"), **settings)
    return list(format_.documents(tmp_path, ReadReport()))


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16"])
def test_units_are_documents_of_their_own_and_codes_are_no_text(
    tmp_path: Path, encoding: str
) -> None:
    documents = read(tmp_path, MEMORY.format(encoding=encoding).encode(encoding))
    assert [(d.source, d.target) for d in documents] == [
        (["A first line."], ["Eine Zeile."]),
        (["Who?"], ["Wer?"]),
    ]
    assert [d.lines for d in documents] == [[4], [7]]


def test_a_memory_with_an_order_is_one_document(tmp_path: Path) -> None:
    (document,) = read(tmp_path, MEMORY.format(encoding="UTF-8"), order="file")
    assert document.source == ["A first line.", "Who?"]


def test_languages_can_be_chosen(tmp_path: Path) -> None:
    settings = {"source_language": "de", "target_language": "fr"}
    (document,) = read(tmp_path, MEMORY.format(encoding="UTF-8"), **settings)
    assert (document.source, document.target) == (["Wer?"], ["Qui ?"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<a/>", "not a TMX file"),
        ("<tmx><tu>", "line 1: not well-formed"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><tmx>&x;</tmx>', "line 1: declares an entity"),
    ],
)
def test_what_is_no_memory_is_refused_in_one_line(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_a_memory_is_streamed(tmp_path: Path) -> None:
    """The first unit comes before the end of the file is read: here it is not there."""
    unit = MEMORY.split("<tu>")[1]
    head = MEMORY.format(encoding="UTF-8").split("<tu>")[0]
    (tmp_path / "long.tmx").write_text(head + ("<tu>" + unit) * 2000)
    found = format_named("tmx")(format="tmx", file=tmp_path / "long.tmx")  # type: ignore[call-arg]
    assert next(iter(found.documents(tmp_path, ReadReport()))).source == ["A first line."]
