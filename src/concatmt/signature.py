"""Signatures: the settings behind a result, as a dictionary and as one line.

As sacrebleu does for BLEU, every translation, score and figure is stored with its signature. Two
results can be compared if their signatures differ only in what is being compared.
"""

from collections.abc import Mapping

from concatmt import __version__

Value = str | int | float | bool | None


class Signature:
    """Ordered `key:value` pairs; the version of the package is always the last."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values: dict[str, Value] = {
            key: value for key, value in values.items() if value is not None and key != "version"
        }
        self.values["version"] = str(values.get("version", __version__))

    def to_json(self) -> dict[str, Value]:
        """The pairs, for JSON."""
        return dict(self.values)

    def __str__(self) -> str:
        """One line: `system:s4to4+cd|model:1f00c0ffee12|K:4|beam:4|version:0.1.0`."""
        return "|".join(f"{key}:{_text(value)}" for key, value in self.values.items())

    def differences(self, other: "Signature") -> list[str]:
        """What differs, one `key: ours, theirs` each; empty if the two are equal."""
        keys = dict.fromkeys([*self.values, *other.values])
        return [
            f"{key}: {_text(self.values.get(key))}, {_text(other.values.get(key))}"
            for key in keys
            if self.values.get(key) != other.values.get(key)
        ]


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
