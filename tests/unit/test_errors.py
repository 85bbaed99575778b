"""Messages for people are one line of a length that can be read."""

from concatmt.errors import LONGEST, UserError


def test_a_message_is_one_line() -> None:
    assert str(UserError("a.txt, line 2:\n  no tab\t; use --format text")) == (
        "a.txt, line 2: no tab ; use --format text"
    )


def test_a_message_with_a_long_value_keeps_its_beginning_and_its_end() -> None:
    message = str(UserError(f"set.json, item 2: found {'x' * 10_000}; give a number"))
    assert len(message) < LONGEST + 10
    assert message.startswith("set.json, item 2: found xxx")
    assert message.endswith("xxx; give a number")
