"""Document-level neural machine translation by concatenation, with sentence-position encodings.

The names below are the Python interface, called as the verbs of the command line are
(docs/python.md). They are imported when they are used, so `import concatmt` takes no time.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concatmt.api import convert, evaluate, prepare, score, train
    from concatmt.decoding.config import TranslateConfig
    from concatmt.decoding.translator import Translator
    from concatmt.errors import UserError
    from concatmt.plugins import load_plugin

__version__ = "1.0.0"

__all__ = [
    "TranslateConfig",
    "Translator",
    "UserError",
    "__version__",
    "convert",
    "evaluate",
    "load_plugin",
    "prepare",
    "score",
    "train",
]

_HOMES = {
    "TranslateConfig": "concatmt.decoding.config",
    "Translator": "concatmt.decoding.translator",
    "UserError": "concatmt.errors",
    "convert": "concatmt.api",
    "evaluate": "concatmt.api",
    "load_plugin": "concatmt.plugins",
    "prepare": "concatmt.api",
    "score": "concatmt.api",
    "train": "concatmt.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'concatmt' has no attribute {name!r}")
    from importlib import import_module

    if name not in ("UserError", "load_plugin"):
        from concatmt.plugins import load_plugins

        load_plugins()
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # found at once from now on
    return value


def __dir__() -> list[str]:
    return __all__
