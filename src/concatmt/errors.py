"""The one exception type for what a user can mend."""

LONGEST = (
    2000  # characters of a message that a person still reads; values in it may have any length
)


class UserError(Exception):
    """Bad input or a bad setting: says what was found, where, and what to do, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def one_line(message: str) -> str:
    """In one line; of a very long one the beginning (where) and the end (what to do)."""
    line = " ".join(message.split())
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]} ... {line[-half:]}"
