"""Fields of JSON records that others wrote: what is not of its type is refused by name.

Does not know what the fields mean.
"""

from typing import Any

from concatmt.errors import UserError

Record = dict[str, Any]


def text(where: str, record: Any, key: str) -> str:
    """A string that must be there."""
    value = record.get(key) if isinstance(record, dict) else None
    if not isinstance(value, str):
        raise UserError(f"{where}: {key!r} must be a text")
    return value


def strings(where: str, record: Record, key: str) -> list[str]:
    """A list of strings that must be there."""
    values = record.get(key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise UserError(f"{where}: {key!r} must be a list of strings")
    return values


def integer(where: str, record: Record, key: str) -> int:
    """A whole number that must be there."""
    value = record.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UserError(f"{where}: {key!r} must be a whole number, found {value!r}")
    return value


def distance(where: str, record: Record, key: str = "distance") -> int | None:
    """A number of sentences, if there is one."""
    return None if record.get(key) is None else integer(where, record, key)


def label(where: str, record: Record, key: str) -> str | None:
    """A name, which may be a number, if there is one."""
    value = record.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int | float)):
        raise UserError(f"{where}: {key!r} must be a text or a number, found {value!r}")
    return None if value is None else str(value)


def flag(where: str, record: Record, key: str) -> bool | None:
    """Yes or no, if it is said."""
    value = record.get(key)
    if value is not None and not isinstance(value, bool):
        raise UserError(f"{where}: {key!r} must be true or false, found {value!r}")
    return value
