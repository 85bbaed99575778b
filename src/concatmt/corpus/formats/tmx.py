"""The `tmx` format of translation memories: sentence pairs, usually in no order."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal
from xml.parsers import expat

from concatmt.corpus.document import Document
from concatmt.corpus.formats.registry import DocumentFormat, register
from concatmt.corpus.lines import ReadReport
from concatmt.errors import UserError

BLOCK = 1 << 16  # bytes to read at a time
_CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})  # their content is not text


@register
class TmxFormat(DocumentFormat):
    """Units of a translation memory, each a document of its own unless the file has an order."""

    format: Literal["tmx"]
    file: Path
    source_language: str = ""  # such as en; by default that of the header
    target_language: str = ""  # by default the first unit's other language
    order: Literal["none", "file"] = "none"  # file: the units are one text from first to last
    suffixes: ClassVar[tuple[str, ...]] = (".tmx",)

    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents; the line of a unit is where it begins."""
        path = root / self.file
        if not path.is_file():
            raise UserError(f"{path}: no such file; check the path in the config")
        lines, sources, targets = [], [], []
        languages = self.source_language.lower(), self.target_language.lower()
        for number, (line, first, unit) in enumerate(_units(path), start=1):
            languages = _completed(languages, first, unit)
            source, target = (_of_language(unit, language) for language in languages)
            if not (source and target):
                continue
            if self.order == "none":
                yield Document(str(number), str(path), [line], [source], [target])
                continue
            lines.append(line)
            sources.append(source)
            targets.append(target)
        if lines:
            yield Document(path.name, str(path), lines, sources, targets)


Unit = dict[str, str]  # language in small letters -> text


def _completed(languages: tuple[str, str], first: str, unit: Unit) -> tuple[str, str]:
    source = languages[0] or first.lower()
    others = [name for name in unit if not _same(name, source)]
    target = languages[1] or (others[0] if others else "")
    return (source if source != "*all*" else ""), target


def _same(name: str, language: str) -> bool:
    """Compare language codes: en-GB matches en, but not en-US."""
    return bool(language) and (name == language or name.startswith(f"{language}-"))


def _of_language(unit: Unit, language: str) -> str:
    return next((text for name, text in unit.items() if _same(name, language)), "")


def _units(path: Path) -> Iterator[tuple[int, str, Unit]]:
    """The line, the language of the header, and the texts of every unit."""
    reader = _Reader(str(path))
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield from reader.read(block)
    yield from reader.read(b"", last=True)
    if not reader.is_tmx:
        raise UserError(f"{path}: has no <tmx> element: not a TMX file")


class _Reader:
    """Turns blocks of XML into units."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.header, self.is_tmx = "", False
        self.units: list[tuple[int, str, Unit]] = []
        self.unit: Unit = {}
        self.line, self.language = 0, ""
        self.text: list[str] | None = None  # of the <seg> that is open
        self.codes = 0  # nesting depth of inline codes
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._entity

    def read(self, block: bytes, last: bool = False) -> list[tuple[int, str, Unit]]:
        """The units that end in a block."""
        try:
            self.parser.Parse(block, last)
        except expat.ExpatError as error:
            raise UserError(
                f"{self.name}, line {error.lineno}: not well-formed XML"
                f" ({expat.errors.messages[error.code]})"
            ) from None
        done, self.units = self.units, []
        return done

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "tmx":
            self.is_tmx = True
        elif tag == "header":
            self.header = attributes.get("srclang", "")
        elif tag == "tu":
            self.unit, self.line = {}, self.parser.CurrentLineNumber
        elif tag == "tuv":
            self.language = (attributes.get("xml:lang") or attributes.get("lang") or "").lower()
        elif tag == "seg":
            self.text, self.codes = [], 0
        elif self.text is not None and (self.codes or tag in _CODES):
            self.codes += 1

    def _end(self, tag: str) -> None:
        if tag == "seg" and self.text is not None:
            self.unit[self.language] = " ".join("".join(self.text).split())
            self.text = None
        elif tag == "tu":
            self.units.append((self.line, self.header, self.unit))
        elif self.codes:
            self.codes -= 1

    def _characters(self, data: str) -> None:
        if self.text is not None and not self.codes:
            self.text.append(data)

    def _entity(self, *_: object) -> None:
        raise UserError(
            f"{self.name}, line {self.parser.CurrentLineNumber}: declares an entity; such files are"
            " refused, because a few lines of them can fill the memory or read other files"
        )
