"""What a client is told when something is wrong with its request, in the words of LibreTranslate.

Existing programs show or compare these words, so they are part of the interface.
"""


class ApiError(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after = status, message, retry_after


def missing(name: str) -> ApiError:
    return ApiError(400, f"Invalid request: missing {name} parameter")


def too_long(size: int, limit: int) -> ApiError:
    return ApiError(400, f"Invalid request: request ({size}) exceeds text limit ({limit})")


def not_a_number(name: str) -> ApiError:
    return ApiError(400, f"Invalid request: {name} parameter is not a number")


def too_many(name: str, limit: int) -> ApiError:
    return ApiError(400, f"Invalid request: {name} parameter must be <= {limit}")


def unsupported(code: str) -> ApiError:
    return ApiError(400, f"{code} is not supported")


def unknown_format(name: str) -> ApiError:
    return ApiError(400, f"{name} format is not supported")


def wrong_type(name: str, expected: str) -> ApiError:
    return ApiError(400, f"Invalid request: {name} parameter must be {expected}")


def slow_down(why: str, retry_after: float) -> ApiError:
    return ApiError(429, f"Slowdown: {why}", max(1, round(retry_after)))


NO_KEY = "Please contact the server operator to get an API key"
BAD_KEY = "Invalid API key"
BAD_JSON = "Invalid JSON format"
BAD_NAME = "Invalid filename"
NO_FORMAT = "Invalid request: file format not supported"
EMPTY_FILE = "Invalid request: empty file"
NO_SUGGESTIONS = "Suggestions are disabled on this server."
