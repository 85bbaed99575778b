"""The one exception type for errors that a user can fix."""

LONGEST = 2000  # characters; values quoted in a message may have any length


class UserError(Exception):
    """Bad input or a bad setting: one line that says what was found, where, and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def one_line(message: str) -> str:
    """The message in one line; keeps the beginning (where) and end (what to do) of a long one."""
    line = " ".join(message.split())
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]} ... {line[-half:]}"
