"""Every format gives the same documents as the plain text that it stands for."""

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from concatmt.corpus.document import Document
from concatmt.corpus.formats import Reader, format_named
from concatmt.corpus.lines import ReadReport
from concatmt.errors import UserError

DOCUMENTS = [
    (["A first line.", "A second one & more."], ["Eine erste Zeile.", "Eine zweite & mehr."]),
    (["Alone."], ["Allein."]),
    (["Who?", "Me.", "Why?"], ["Wer?", "Ich.", "Warum?"]),
]


def read(tmp_path: Path, **settings: Any) -> list[Document]:
    reader = TypeAdapter(Reader).validate_python(settings)
    return list(reader.documents(tmp_path, ReadReport()))


def sides(documents: list[Document]) -> list[tuple[list[str], list[str]]]:
    return [(document.source, document.target) for document in documents]


def write(tmp_path: Path, **files: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content.encode())


def write_flat(tmp_path: Path) -> None:
    for side, name in enumerate(("en", "de")):
        lines = [sentence for document in DOCUMENTS for sentence in document[side]]
        write(tmp_path, **{name: "".join(f"{line}\n" for line in lines)})


TWO = {"source": "en", "target": "de"}


def test_blank_lines_part_documents(tmp_path: Path) -> None:
    for side, name in enumerate(("en", "de")):
        text = "\n\n".join("\n".join(document[side]) for document in DOCUMENTS)
        write(tmp_path, **{name: text})  # also without a final line end
    documents = read(tmp_path, format="text", **TWO)
    assert sides(documents) == DOCUMENTS
    assert [document.lines for document in documents] == [[1, 2], [4], [6, 7, 8]]


def test_several_blank_lines_are_one_boundary(tmp_path: Path) -> None:
    write(tmp_path, en="\n\na\n\n \nb\n\n", de="\n\nx\n\n\ny\n\n")
    assert sides(read(tmp_path, format="text", **TWO)) == [(["a"], ["x"]), (["b"], ["y"])]


@pytest.mark.parametrize("base", [0, 1])
def test_a_file_of_starts_parts_documents(tmp_path: Path, base: int) -> None:
    write_flat(tmp_path)
    write(tmp_path, starts="".join(f"{start + base}\n" for start in (0, 2, 3)))
    assert sides(read(tmp_path, format="starts", starts="starts", **TWO)) == DOCUMENTS


def test_a_file_of_ids_parts_documents(tmp_path: Path) -> None:
    write_flat(tmp_path)
    write(tmp_path, ids="x\nx\ny\nx\nx\nx\n")
    documents = read(tmp_path, format="ids", ids="ids", **TWO)
    assert sides(documents) == DOCUMENTS
    assert [document.id for document in documents] == ["x", "y", "x"]


def test_lines_without_marks_are_cut_into_pseudo_documents(tmp_path: Path) -> None:
    write_flat(tmp_path)
    documents = read(tmp_path, format="lines", size=4, **TWO)
    assert [len(document) for document in documents] == [4, 2]
    assert [sentence for document in documents for sentence in document.source] == [
        sentence for document in DOCUMENTS for sentence in document[0]
    ]


def test_tsv(tmp_path: Path) -> None:
    rows = [
        f"{i}\t{source}\t{target}\n"
        for i, document in enumerate(DOCUMENTS)
        for source, target in zip(*document, strict=True)
    ]
    write(tmp_path, tsv="".join(rows))
    assert sides(read(tmp_path, format="tsv", file="tsv")) == DOCUMENTS


def test_jsonl(tmp_path: Path) -> None:
    rows = [json.dumps({"id": "d", "source": s, "target": t}) + "\n" for s, t in DOCUMENTS]
    write(tmp_path, jsonl="".join(rows))
    assert sides(read(tmp_path, format="jsonl", file="jsonl")) == DOCUMENTS


def test_voita_lines(tmp_path: Path) -> None:
    for side, name in enumerate(("en", "de")):
        lines = [" _eos ".join(document[side]) for document in DOCUMENTS]
        write(tmp_path, **{name: "".join(f"{line}\n" for line in lines)})
    assert sides(read(tmp_path, format="voita", **TWO)) == DOCUMENTS


def wit3(side: int, extra: str = "") -> str:
    talks = [
        f"<url>http://talk/{i}</url>\n<keywords>a, b</keywords>\n<speaker>S</speaker>\n"
        f"<talkid>{i}</talkid>\n<title>{document[side][0]}</title>\n"
        + "".join(f" {sentence} \n" for sentence in document[side][1:])
        + extra
        for i, document in enumerate(DOCUMENTS)
    ]
    return "".join(talks)


def test_wit3_training_tags(tmp_path: Path) -> None:
    # Translators are named on the target side only: the files are not parallel line by line.
    write(tmp_path, en=wit3(0), de=wit3(1, "<translator href='x'>T</translator>\n"))
    documents = read(tmp_path, format="wit3", **TWO)
    assert sides(documents) == DOCUMENTS
    assert [document.id for document in documents] == ["0", "1", "2"]
    without = read(tmp_path, format="wit3", titles=False, **TWO)
    assert sides(without) == [(s[1:], t[1:]) for s, t in DOCUMENTS if len(s) > 1]


@pytest.mark.parametrize("line", ["<title>" + " " * 100_000 + "x", "</a" * 100_000, "<" * 100_000])
def test_a_long_wit3_line_takes_no_more_time_than_it_is_long(tmp_path: Path, line: str) -> None:
    write(tmp_path, en=f"a\n{line}\n", de=f"a\n{line}\n")
    start = time.process_time()
    assert len(read(tmp_path, format="wit3", **TWO)) == 1
    assert time.process_time() - start < 5  # in cubic, or even quadratic, time: minutes


@pytest.mark.parametrize(
    "text", ["<seg>\n" * 20_000, "</seg>" * 20_000 + "<seg>" * 20_000, "<seg " * 40_000]
)
def test_a_long_damaged_sgm_file_takes_no_more_time_than_it_is_long(
    tmp_path: Path, text: str
) -> None:
    write(tmp_path, en=text, de=text)
    start = time.process_time()
    with contextlib.suppress(UserError):
        read(tmp_path, format="sgm", source=["en"], target=["de"])
    assert time.process_time() - start < 5


def sgm(side: int) -> str:
    body = "".join(
        f'<doc docid="{i}" genre="lectures">\n<title>Not a sentence</title>\n<p>\n'
        + "".join(
            f'<seg id="{j}"> {sentence.replace("&", "&amp;")} </seg>\n'
            for j, sentence in enumerate(document[side], start=1)
        )
        + "</p>\n</doc>\n"
        for i, document in enumerate(DOCUMENTS)
    )
    return f'<srcset setid="test" srclang="any">\n{body}</srcset>\n'


def test_sgm_and_iwslt_test_files(tmp_path: Path) -> None:
    write(tmp_path, en=sgm(0), de=sgm(1))
    documents = read(tmp_path, format="sgm", source=["en", "en"], target=["de", "de"])
    assert sides(documents) == DOCUMENTS * 2


def test_an_sgm_sentence_may_go_over_several_lines(tmp_path: Path) -> None:
    write(tmp_path, en='<doc id="1">\n<seg id="1">a\nb</seg>\n</doc>', de=sgm(1))
    write(tmp_path, de='<doc id="1"><seg id="1">x</seg></doc>')
    assert sides(read(tmp_path, format="sgm", source=["en"], target=["de"])) == [(["a b"], ["x"])]


def test_wmt_xml(tmp_path: Path) -> None:
    def segments(sentences: list[str]) -> str:
        escaped = [sentence.replace("&", "&amp;") for sentence in sentences]
        return "<p>" + "".join(f"<seg id='1'>{sentence}</seg>" for sentence in escaped) + "</p>"

    body = "".join(
        f"<doc id='{i}' origlang='en'><src lang='en'>{segments(source)}</src>"
        f"<ref lang='de' translator='A'>{segments(['wrong'] * len(source))}</ref>"
        f"<ref lang='de' translator='B'>{segments(target)}</ref></doc>"
        for i, (source, target) in enumerate(DOCUMENTS)
    )
    write(tmp_path, xml=f"<?xml version='1.0'?><dataset id='t'>{body}</dataset>")
    assert sides(read(tmp_path, format="wmt-xml", file="xml", translator="B")) == DOCUMENTS


def test_gzip_files_are_read_as_they_are(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "x.gz").write_bytes(gzip.compress(b"1\ta\tb\n"))
    assert sides(read(tmp_path, format="tsv", file="x.gz")) == [(["a"], ["b"])]


def test_marks_line_ends_and_controls_are_repaired_and_reported(tmp_path: Path) -> None:
    write(tmp_path, en="\ufeffa\x07b\r\nc\u2028d\r\n", de="x\r\ny\n")
    reader = TypeAdapter(Reader).validate_python({"format": "text", **TWO})
    report = ReadReport()
    (document,) = reader.documents(tmp_path, report)
    assert (document.source, document.target) == (["a b", "c d"], ["x", "y"])
    assert [message.replace(f"{tmp_path}/", "") for message in report.messages()] == [
        "en: byte-order mark removed",
        "de: Windows line ends normalised (in 1 lines)",
        "en: Windows line ends normalised (in 2 lines)",
        "en: control characters replaced by spaces (in 2 lines)",
    ]


BAD: list[tuple[str, dict[str, Any], dict[str, str], str]] = [
    (
        "one side shorter",
        {"format": "text", **TWO},
        {"en": "a\nb\nc\n", "de": "x\n"},
        "de: ends after line 1, but {}/en has 3 lines",
    ),
    (
        "a boundary on one side",
        {"format": "text", **TWO},
        {"en": "a\n\nb\n", "de": "x\ny\nz\n"},
        r"en, line 2: a document boundary \(blank line\), but {}/de has text",
    ),
    (
        "too few ids",
        {"format": "ids", "ids": "ids", **TWO},
        {"en": "a\nb\n", "de": "x\ny\n", "ids": "1\n"},
        "ids: ends after line 1",
    ),
    (
        "too many ids",
        {"format": "ids", "ids": "ids", **TWO},
        {"en": "a\n", "de": "x\n", "ids": "1\n1\n"},
        "ids: has more lines than {}/en",
    ),
    (
        "a start beyond the end",
        {"format": "starts", "starts": "starts", **TWO},
        {"en": "a\n", "de": "x\n", "starts": "1\n5\n"},
        "starts at line 5, but {}/en has only 1 lines",
    ),
    (
        "starts out of order",
        {"format": "starts", "starts": "starts", **TWO},
        {"en": "a\n", "de": "x\n", "starts": "0\n3\n2\n"},
        "starts, line 3: 2 does not come after 3",
    ),
    ("tsv columns", {"format": "tsv", "file": "t"}, {"t": "1\n"}, "t, line 1: 1 columns"),
    (
        "no translation",
        {"format": "tsv", "file": "t"},
        {"t": "1\ta\n"},
        "t, line 1: no translation beside the sentence",
    ),
    ("bad json", {"format": "jsonl", "file": "j"}, {"j": "{\n"}, "j, line 1: not valid JSON"),
    (
        "json of another shape",
        {"format": "jsonl", "file": "j"},
        {"j": '{"source": "a"}\n'},
        "j, line 1: 'source' must be a list of strings",
    ),
    (
        "json sides differ",
        {"format": "jsonl", "file": "j"},
        {"j": '{"source": ["a"], "target": []}\n'},
        "j, line 1: 1 source sentences but 0 target sentences",
    ),
    (
        "voita sides differ",
        {"format": "voita", **TWO},
        {"en": "a _eos b\n", "de": "x\n"},
        "en, line 1: 2 sentences but 1 in de",
    ),
    (
        "talks of different length",
        {"format": "wit3", **TWO},
        {"en": "<talkid>7</talkid>\na\nb\n", "de": "<talkid>7</talkid>\nx\n"},
        "en, line 2: document '7' has 2 sentences but 1 in {}/de",
    ),
    (
        "a talk missing",
        {"format": "wit3", **TWO},
        {"en": "<talkid>7</talkid>\na\n<talkid>8</talkid>\nb\n", "de": "<talkid>7</talkid>\nx\n"},
        "de: ends before document 2",
    ),
    (
        "a cut sgm file",
        {"format": "sgm", "source": ["en"], "target": ["de"]},
        {"en": '<doc docid="1">\n<seg id="1">a</seg>\n', "de": sgm(1)},
        "the file ends inside a <doc> or <seg>",
    ),
    ("bad xml", {"format": "wmt-xml", "file": "x"}, {"x": "<dataset><doc>"}, "x: not valid XML"),
    ("no such file", {"format": "tsv", "file": "nowhere"}, {}, "nowhere: no such file"),
]


@pytest.mark.parametrize(
    ("settings", "files", "message"), [b[1:] for b in BAD], ids=[b[0] for b in BAD]
)
def test_bad_input_is_reported_in_one_line(
    tmp_path: Path, settings: dict[str, Any], files: dict[str, str], message: str
) -> None:
    write(tmp_path, **files)
    with pytest.raises(UserError, match=message.replace("{}", str(tmp_path))) as error:
        read(tmp_path, **settings)
    assert "\n" not in str(error.value)


def test_invalid_utf8_is_reported_with_file_line_and_byte(tmp_path: Path) -> None:
    (tmp_path / "en").write_bytes("gut\nschön\n".encode("latin-1"))
    write(tmp_path, de="x\ny\n")
    with pytest.raises(UserError, match=r"en, line 2, byte 4: not UTF-8 \(0xf6\)"):
        read(tmp_path, format="text", **TWO)


def test_a_corpus_without_boundaries_is_not_read_into_memory(tmp_path: Path) -> None:
    write(tmp_path, en="a\n" * 200_001, de="x\n" * 200_001)
    with pytest.raises(UserError, match="use format 'lines'"):
        read(tmp_path, format="text", **TWO)


def parts(name: str, files: list[Path], limit: int = 100) -> list[tuple[list[str], Any]]:
    found = format_named(name).parts(files, limit, ReadReport())
    return [(part.source, part.gold) for part in found if part]


@pytest.mark.parametrize("name", ["text", "ids", "voita", "wit3", "sgm", "wmt-xml"])
def test_every_verb_reads_the_documents_that_prepare_reads(tmp_path: Path, name: str) -> None:
    files = ["en", "de"]
    if name == "ids":
        write_flat(tmp_path)
        write(tmp_path, ids="x\nx\ny\nz\nz\nz\n")
        files.append("ids")
    elif name == "wmt-xml":
        body = "".join(
            f"<doc><src>{xml_segments(source)}</src><ref>{xml_segments(target)}</ref></doc>"
            for source, target in DOCUMENTS
        )
        write(tmp_path, xml=f"<dataset>{body}</dataset>")
        files = ["xml"]
    else:
        for side, language in enumerate(files):
            content = {
                "text": "\n\n".join("\n".join(document[side]) for document in DOCUMENTS),
                "voita": "".join(" _eos ".join(document[side]) + "\n" for document in DOCUMENTS),
                "wit3": wit3(side),
                "sgm": sgm(side),
            }[name]
            write(tmp_path, **{language: content})
    paths = [tmp_path / file for file in files]
    assert parts(name, paths) == DOCUMENTS
    if name not in ("ids", "wmt-xml"):  # without the translations too
        assert parts(name, paths[:1]) == [(source, None) for source, _ in DOCUMENTS]
    assert [len(source) for source, _ in parts(name, paths, limit=2)] == [2, 1, 2, 1]


def xml_segments(sentences: list[str]) -> str:
    return "".join(f"<seg>{sentence.replace('&', '&amp;')}</seg>" for sentence in sentences)


XLIFF = """<xliff version="1.2"><file source-language="en" target-language="de"><body>
<trans-unit id="1"><source>A <g id="1">first</g> line.</source>
<target>Eine Zeile.</target></trans-unit>
<trans-unit id="2"><source>Not yet.</source></trans-unit>
<trans-unit id="3" approved="yes"><source>Who?</source><target>Wer?</target></trans-unit>
<trans-unit id="4"><source>Neither.</source><target></target></trans-unit>
</body></file></xliff>"""


def test_translation_units_are_a_corpus_and_those_without_a_translation_are_gaps(
    tmp_path: Path,
) -> None:
    write(tmp_path, **{"job.xlf": XLIFF})
    (document,) = read(tmp_path, format="xliff", file="job.xlf")
    assert document.source == ["A first line.", "Who?"]
    assert document.target == ["Eine Zeile.", "Wer?"]
    assert document.gaps == (1,)
    assert [source for source, _ in parts("xliff", [tmp_path / "job.xlf"])] == [
        ["A first line."],
        ["Who?"],
    ]


def test_subtitles_of_two_languages_are_a_corpus(tmp_path: Path) -> None:
    cue = "{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{text}\n\n"
    write(
        tmp_path,
        **{
            "a.srt": cue.format(n=1, text="A <i>first</i> line.") + cue.format(n=2, text="Who?"),
            "b.srt": cue.format(n=1, text="Eine Zeile.") + cue.format(n=2, text="Wer?"),
        },
    )
    documents = read(tmp_path, format="srt", source="a.srt", target="b.srt")
    assert sides(documents) == [(["A first line.", "Who?"], ["Eine Zeile.", "Wer?"])]


def test_a_format_of_two_files_says_which_files_it_reads(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'ids' reads 3 files \(source, target, ids\), but got 2"):
        parts("ids", [tmp_path / "en", tmp_path / "de"])


def test_an_unknown_format_is_reported_with_the_nearest_name() -> None:
    with pytest.raises(UserError, match=r"'jsonnl': not known; did you mean 'j"):
        format_named("jsonnl")
    with pytest.raises(ValidationError, match="does not match any of the expected tags"):
        TypeAdapter(Reader).validate_python({"format": "jsonnl", "file": "x"})


def test_settings_of_a_format_are_written_as_they_were_given() -> None:
    """The manifest of a store holds them, and its hash depends on them."""
    given = {"format": "ids", "source": "en", "target": "de", "ids": "ids"}
    adapter: TypeAdapter[Any] = TypeAdapter(Reader)
    assert (
        adapter.dump_json(adapter.validate_python(given))
        == b'{"source":"en","target":"de","format":"ids","ids":"ids"}'
    )
