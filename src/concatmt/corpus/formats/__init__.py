"""The document formats that every verb reads and writes: each file in this folder is one format.

A format reads documents from files; some also write them back with translations (`open`). The
verbs find a format by the name in a configuration or an option, or by a file's suffix. To add
a format, add a module to this folder or a plug-in: a class of settings with `@register` above it.
"""

import importlib
import pkgutil

from concatmt.corpus.formats.registry import (
    DEFAULT,
    DocumentFormat,
    Reader,
    TwoFiles,
    comes_back,
    format_named,
    format_of,
    formats,
    open_pieces,
    register,
    whole_documents,
    written_back,
)
from concatmt.corpus.formats.text import decisions

__all__ = [
    "DEFAULT",
    "DocumentFormat",
    "Reader",
    "TwoFiles",
    "comes_back",
    "decisions",
    "format_named",
    "format_of",
    "formats",
    "open_pieces",
    "register",
    "whole_documents",
    "written_back",
]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
