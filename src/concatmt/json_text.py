"""Reading JSON that somebody else wrote. Does not know what it says."""

import json
import re
from typing import Any

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str) -> Any:
    """The value of a JSON text; whatever is wrong with it is a JSONDecodeError.

    Python's own reader gives other errors for deep nesting and very long integers, and lets half of
    a surrogate pair pass, which no file can be written with.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise json.JSONDecodeError("nested too deeply", text, 0) from error
    except ValueError as error:
        raise json.JSONDecodeError("a number of too many digits", text, 0) from error
    if lone := SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            what = "half of a surrogate pair"
            raise json.JSONDecodeError(what, text, lone.start()) from error
    return value
