"""Codes and names of languages as clients spell them, and which language a text is in.

Knows which of the served languages a code means; does not know models.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

# What clients send, in small letters, for codes that models use, and the other way round.
ALIASES = {"pb": "pt-br", "zh": "zh-hans", "zt": "zh-hant", "zh-cn": "zh-hans", "zh-tw": "zh-hant"}

NAMES = {
    "af": "Afrikaans", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian",
    "bn": "Bengali", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "ga": "Irish", "gl": "Galician", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
    "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian",
    "ja": "Japanese", "ka": "Georgian", "kk": "Kazakh", "ko": "Korean", "lt": "Lithuanian",
    "lv": "Latvian", "mk": "Macedonian", "ml": "Malayalam", "mr": "Marathi", "ms": "Malay",
    "mt": "Maltese", "nb": "Norwegian Bokmål", "nl": "Dutch", "nn": "Norwegian Nynorsk",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "pt-br": "Portuguese (Brazil)",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian",
    "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai",
    "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek",
    "vi": "Vietnamese", "zh-hans": "Chinese", "zh-hant": "Chinese (traditional)",
}  # fmt: skip
WITHOUT_SPACES = ("zh", "ja", "th")
SURE = 100.0


@dataclass(frozen=True)
class Detected:
    """A language that a text may be in."""

    code: str
    confidence: float  # 0 to 100


def language_name(code: str) -> str:
    """In English; the code itself where we have no name."""
    plain = normal(code)
    return NAMES.get(plain) or NAMES.get(plain.partition("-")[0], code)


def normal(code: str) -> str:
    """One spelling for all that mean the same language."""
    lower = code.strip().lower().replace("_", "-")
    return ALIASES.get(lower, lower)


def find_language(code: str, served: Sequence[str]) -> str | None:
    """The served language that a client's code means: the same, or the same without its region."""
    wanted = normal(code)
    spellings = {normal(language): language for language in served}
    if wanted in spellings:
        return spellings[wanted]
    base = wanted.partition("-")[0]
    near = [language for spelt, language in spellings.items() if spelt.partition("-")[0] == base]
    # `en-US` means a model of `en`, `zh` any model of Chinese; `pt-BR` is not `pt-PT`.
    if base in spellings:
        return spellings[base]
    return near[0] if len(near) == 1 and wanted in (base, ALIASES.get(base)) else None


def joins_without_space(code: str) -> bool:
    """Whether sentences stand side by side in the language."""
    return normal(code).partition("-")[0] in WITHOUT_SPACES


def has_words(text: str) -> bool:
    """Whether there is anything to translate: a letter or a digit."""
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def detect(text: str, served: Sequence[str]) -> list[Detected]:
    """The served languages by how likely the text is in each, best first.

    With one language there is nothing to find out. Text without words is in none of them.
    """
    if not has_words(text):
        return []
    if len(served) == 1:
        return [Detected(served[0], SURE)]
    known: dict[str, str] = {}
    for code in served:
        known.setdefault(normal(code).partition("-")[0], code)
    ranks = _identifier(frozenset(known)).rank(text)
    return [Detected(known[code], round(100 * float(share), 1)) for code, share in ranks]


@functools.lru_cache(maxsize=16)
def _identifier(languages: frozenset[str]):  # type: ignore[no-untyped-def]  # its package has none
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(sorted(languages & set(identifier.labels)))
    return identifier
