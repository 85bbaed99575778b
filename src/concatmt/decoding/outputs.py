"""Formats translations: as lines of text, or as JSONL with all details.

Does not know where they are written.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal

from concatmt.corpus.parts import Part
from concatmt.decoding.translation import Translation
from concatmt.signature import Signature

OutputFormat = Literal["text", "jsonl"]


class Writer:
    """Parts of documents with their translations, as lines."""

    def __init__(self, kind: OutputFormat, nbest: bool = False, windows: bool = False) -> None:
        """`nbest`: all alternatives; `windows`: the translation of the whole window."""
        self.kind, self.nbest, self.windows = kind, nbest, windows

    def head(self, signature: Signature) -> str:
        """The first line of the output, if any."""
        return _line({"signature": signature.to_json()}) if self.kind == "jsonl" else ""

    def part(self, part: Part, translations: Sequence[Translation]) -> str:
        """The lines of one part."""
        if self.kind == "text":
            return "\n" * part.blank + "".join(
                f"{translation.text}\n" for translation in translations
            )
        return "".join(
            _line(self._record(part, place, translation))
            for place, translation in enumerate(translations)
        )

    def _record(self, part: Part, place: int, translation: Translation) -> dict[str, Any]:
        record = {
            "document": part.document,
            "sentence": part.first + place,
            "source": translation.source,
            "translation": translation.text,
            "score": translation.score,
        }
        if self.nbest:
            record["nbest"] = [
                {
                    "translation": alternative.text,
                    "score": alternative.score,
                    "log_prob": alternative.log_prob,
                }
                for alternative in translation.alternatives
            ]
        if self.windows:
            best = translation.alternatives[:1]
            record["window"] = best[0].window if best else [translation.text]
        return record


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
