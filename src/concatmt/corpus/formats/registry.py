"""The registry of document formats, and their base class.

A format is a class of settings: a configuration gives its name and files, the command
line gives files and may give a name. Does not know any format.
"""

import typing
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, BinaryIO, ClassVar, TypeVar, Union

from pydantic import Field, PlainValidator, SerializeAsAny, TypeAdapter

from concatmt.corpus.document import Document
from concatmt.corpus.lines import ReadReport
from concatmt.corpus.parts import WHOLE, Part, Side, in_parts, rows_of, rows_of_side
from concatmt.errors import UserError
from concatmt.segments.config import FileConfig
from concatmt.segments.segment import SegmentedFile
from concatmt.settings import Settings, nearest

# Files whose markup or binary content must not be read as sentences.
NOT_SENTENCES = (
    *("ass", "doc", "docx", "epub", "htm", "html", "md", "odt", "pdf", "po", "pptx", "rtf", "sbv"),
    *("srt", "ssa", "stl", "sub", "tmx", "ttml", "vtt", "xhtml", "xlf", "xliff", "xlsx", "xml"),
    "zip",
)
DEFAULT = "text"  # for files without a known suffix


class DocumentFormat(Settings):
    """Files of documents in one format: `format` is the name, the other settings say what to read.

    Text is read as it is; normalising and cleaning come later.
    """

    if typing.TYPE_CHECKING:  # each format has its own, in an order that stores remember
        format: str
    suffixes: ClassVar[tuple[str, ...]] = ()  # of files in this format
    written_back: ClassVar[tuple[str, ...]] = ()  # of files that can be written back: see `open`

    @abstractmethod
    def documents(self, root: Path, report: ReadReport) -> Iterator[Document]:
        """Stream the documents with their translations; relative paths count from `root`."""

    @classmethod
    def name(cls) -> str:
        """The name in configurations."""
        name: str = typing.get_args(cls.model_fields["format"].annotation)[0]
        return name

    @classmethod
    def of(cls, files: Sequence[Path]) -> "DocumentFormat":
        """The settings for files given in the order of the fields."""
        kinds = {name: field.annotation for name, field in cls.model_fields.items()}
        roles = [name for name, kind in kinds.items() if kind in (Path, list[Path])]
        if len(files) != len(roles):
            raise UserError(
                f"{', '.join(map(str, files))}: format {cls.name()!r} reads {len(roles)} files"
                f" ({', '.join(roles)}), but got {len(files)}"
            )
        chosen: dict[str, Any] = {
            role: [file] if kinds[role] == list[Path] else file
            for role, file in zip(roles, files, strict=True)
        }
        return cls(format=cls.name(), **chosen)

    @classmethod
    def parts(
        cls,
        files: Sequence[Path],
        limit: int,
        report: ReadReport,
        lines: Iterator[str | None] | None = None,
    ) -> Iterator[Part | None]:
        """Stream files as parts of at most `limit` sentences.

        `lines` are the lines of the first file if they come from standard input.
        """
        if lines is not None:
            raise UserError(f"format {cls.name()!r} is not read from standard input; give a file")
        alone = cls.source_alone(files[0], report) if len(files) == 1 else None
        if alone is not None:
            return in_parts(rows_of_side(alone), limit)
        return in_parts(rows_of(cls.of(files).documents(Path(), report)), limit)

    @classmethod
    def source_alone(cls, path: Path, report: ReadReport) -> Side | None:
        """The documents of a single file without translations, if the format can read that."""
        return None

    @classmethod
    def comes_back(cls, path: Path, config: FileConfig) -> bool:
        """Whether a file of `written_back` is to be read by `open`."""
        return True

    @classmethod
    def open(
        cls, file: BinaryIO, name: str, config: FileConfig, suffix: str
    ) -> Iterator[SegmentedFile]:
        """A file that can be written back around translations of its sentences.

        In one piece, or, so that memory does not grow with the file, in several.
        """
        raise UserError(f"{name}: format {cls.name()!r} is not written back")


class TwoFiles(DocumentFormat):
    """Base class of formats with one file per language."""

    source: Path
    target: Path

    def paths(self, root: Path) -> tuple[Path, Path]:
        """Both files; relative paths count from `root`."""
        return root / self.source, root / self.target


_FORMATS: dict[str, type[DocumentFormat]] = {}
F = TypeVar("F", bound=type[DocumentFormat])


def register(format_: F) -> F:
    """Decorator that registers a format under its name."""
    if format_.name() in _FORMATS:
        raise UserError(f"two document formats are called {format_.name()!r}; rename one")
    _FORMATS[format_.name()] = format_
    return format_


def formats() -> dict[str, type[DocumentFormat]]:
    """All formats, by name."""
    return dict(_FORMATS)


def format_named(name: str) -> type[DocumentFormat]:
    """The format with this name; an error names similar ones."""
    if name not in _FORMATS:
        hint = nearest(name, list(_FORMATS)) or f"; known are {', '.join(sorted(_FORMATS))}"
        raise UserError(f"document format {name!r}: not known{hint}")
    return _FORMATS[name]


def whole_documents(
    files: Sequence[Path], kind: str = DEFAULT, limit: int | None = None
) -> list[Part]:
    """The first `limit` documents of files in one format, each as one part."""
    parts = format_named(kind).parts(files, WHOLE, ReadReport())
    return list(islice((part for part in parts if part), limit))


def format_of(path: Path) -> str:
    """The name of the format for a file, by its suffix."""
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    last = suffixes[-1].lower() if suffixes else ""
    for name, format_ in _FORMATS.items():
        if last in format_.suffixes:
            if path.suffix == ".gz" and format_.written_back:
                raise UserError(f"{path}: a packed {last} file; unpack it first")
            return name
    if last.lstrip(".") in NOT_SENTENCES:
        known = sorted(
            suffix for document_format in _FORMATS.values() for suffix in document_format.suffixes
        )
        raise UserError(
            f"{path}: {last} files cannot be read; known are text (a sentence a line, blank lines"
            f" between documents), {', '.join(known)}"
        )
    return DEFAULT


def written_back() -> tuple[str, ...]:
    """Suffixes of files that can be written back, translated."""
    return tuple(
        suffix for document_format in _FORMATS.values() for suffix in document_format.written_back
    )


def comes_back(path: Path, config: FileConfig) -> bool:
    """Whether a file is read whole and comes back as it was; text with a sentence a line is not."""
    suffix = path.suffix.lower()
    return any(
        suffix in one.written_back and one.comes_back(path, config) for one in _FORMATS.values()
    )


def open_pieces(
    file: BinaryIO, name: str, config: FileConfig, suffix: str
) -> Iterator[SegmentedFile]:
    """A file that can be written back, piece by piece."""
    for format_ in _FORMATS.values():
        if suffix in format_.written_back:
            return format_.open(file, name, config, suffix)
    known = ", ".join(sorted(written_back()))
    raise UserError(f"{name}: {suffix} files cannot be written back; known are {known}")


def _validated(value: Any) -> DocumentFormat:
    """The settings of a registered format, plug-ins included."""
    if isinstance(value, DocumentFormat):
        return value
    kinds = Union[tuple(_FORMATS.values())]  # type: ignore[valid-type]  # noqa: UP007
    chosen: Any = Annotated[kinds, Field(discriminator="format")]
    adapter: TypeAdapter[DocumentFormat] = TypeAdapter(chosen)
    return adapter.validate_python(value)


class AnyFormat(PlainValidator):
    """Reads the settings of any registered format."""

    @property
    def models(self) -> tuple[type[DocumentFormat], ...]:
        """All possible classes, for messages about unknown keys."""
        return tuple(_FORMATS.values())


# A corpus in a configuration: the settings of one format, including its name.
Reader = Annotated[SerializeAsAny[DocumentFormat], AnyFormat(_validated)]
