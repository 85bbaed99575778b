"""All corpus formats under one name, for the configuration."""

from typing import Annotated

from pydantic import Field

from concatmt.corpus.markup import SgmReader, VoitaReader, Wit3Reader, WmtXmlReader
from concatmt.corpus.readers import (
    IdsReader,
    JsonlReader,
    LinesReader,
    StartsReader,
    TextReader,
    TsvReader,
)

Reader = Annotated[
    TextReader
    | StartsReader
    | IdsReader
    | LinesReader
    | TsvReader
    | JsonlReader
    | VoitaReader
    | Wit3Reader
    | SgmReader
    | WmtXmlReader,
    Field(discriminator="format"),
]
