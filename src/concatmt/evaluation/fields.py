"""Reads fields of JSON records from outside; a wrong type is an error that names the field.

Does not know what the fields mean.
"""

from typing import Any

from concatmt.errors import UserError

Record = dict[str, Any]


def text(where: str, record: Any, key: str) -> str:
    """A required string."""
    value = record.get(key) if isinstance(record, dict) else None
    if not isinstance(value, str):
        raise UserError(f"{where}: {key!r} must be a text")
    return value


def strings(where: str, record: Record, key: str) -> list[str]:
    """A required list of strings."""
    values = record.get(key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise UserError(f"{where}: {key!r} must be a list of strings")
    return values


def integer(where: str, record: Record, key: str) -> int:
    """A required whole number."""
    value = record.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise UserError(f"{where}: {key!r} must be a whole number, found {value!r}")
    return value


def distance(where: str, record: Record, key: str = "distance") -> int | None:
    """An optional number of sentences."""
    return None if record.get(key) is None else integer(where, record, key)


def label(where: str, record: Record, key: str) -> str | None:
    """An optional name, which may be a number."""
    value = record.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int | float)):
        raise UserError(f"{where}: {key!r} must be a text or a number, found {value!r}")
    return None if value is None else str(value)


def flag(where: str, record: Record, key: str) -> bool | None:
    """An optional truth value."""
    value = record.get(key)
    if value is not None and not isinstance(value, bool):
        raise UserError(f"{where}: {key!r} must be true or false, found {value!r}")
    return value
