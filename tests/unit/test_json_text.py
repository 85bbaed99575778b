"""JSON of others: whatever is wrong with it is one kind of error."""

import json

import pytest

from concatmt.json_text import parse_json


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "too many digits"),
        ('["\\ud800"]', "half of a surrogate pair"),
        ('{"\\uDC00 x": 1}', "half of a surrogate pair"),
        ("{", "Expecting property name"),
    ],
)
def test_what_python_reads_or_trips_over_is_refused(text: str, what: str) -> None:
    with pytest.raises(json.JSONDecodeError, match=what):
        parse_json(text)


def test_whole_surrogate_pairs_are_characters() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "\N{GRINNING FACE}"
