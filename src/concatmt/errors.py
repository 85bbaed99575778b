"""The one exception type for what a user can mend."""


class UserError(Exception):
    """Bad input or a bad setting: says what was found, where, and what to do, in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
