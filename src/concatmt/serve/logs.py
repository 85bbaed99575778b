"""The log: one JSON object a line on standard error. No text is in it unless asked for."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

LOGGER = logging.getLogger("concatmt.serve")


class JsonLines(logging.Formatter):
    """A record as JSON; of an error, where it happened, but not what was being translated."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "time": when,
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["at"] = _places(record.exc_info[2])
        return json.dumps(line, ensure_ascii=False)


def _places(trace: object) -> list[str]:
    """Files and lines: messages of exceptions may quote a text."""
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code  # type: ignore[attr-defined]
        places.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}")  # type: ignore[attr-defined]
        trace = trace.tb_next  # type: ignore[attr-defined]
    return places


def set_up() -> None:
    """Write our lines, and the warnings of the web server in the same form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (
        ("concatmt.serve", logging.INFO),
        ("uvicorn.error", logging.WARNING),
        ("asyncio", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False


def event(name: str, **fields: object) -> None:
    """Log something that happened."""
    LOGGER.info(name, extra={"fields": fields})
