"""Parses JSON from outside, so that anything wrong with it is one kind of error."""

import json
import re
from typing import Any

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str) -> Any:
    """Parse a JSON text; anything wrong with it raises JSONDecodeError.

    Python's own parser raises other errors for deep nesting and very long integers, and accepts
    lone surrogates, which cannot be written to a file.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise json.JSONDecodeError("nested too deeply", text, 0) from error
    except ValueError as error:
        raise json.JSONDecodeError("a number with too many digits", text, 0) from error
    if lone := SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            what = "half of a surrogate pair"
            raise json.JSONDecodeError(what, text, lone.start()) from error
    return value
