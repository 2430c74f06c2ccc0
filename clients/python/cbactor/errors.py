"""What calls fail with. All are CbactorError."""

from __future__ import annotations


class CbactorError(Exception):
    """Something that the client or the server says no to."""


class ConnectionFailed(CbactorError):
    """There was no answer, or it broke off. What was asked for may have been done."""


class HoldLost(CbactorError):
    """A pause or an update was not renewed in time, so that the server has ended it."""


class APIError(CbactorError):
    """The server has answered with an error.

    status is that of HTTP, 0 for an error inside of a stream that had begun; code the word by
    which programs tell errors apart; param the parameter that it is about; retry_after the
    seconds after which the same call may be taken.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str | None = None,
        param: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.param = param
        self.retry_after = retry_after

    def __str__(self) -> str:
        told = ", ".join(str(part) for part in (self.status or None, self.code) if part is not None)
        return f"{self.message} ({told})" if told else self.message


class BadRequest(APIError):
    """The call can never be taken as it is."""


class Unauthorized(APIError):
    """A key is missing or wrong, or does not go for this."""


class PathNotAllowed(APIError):
    """The server does not read there: its --weights-root say where it does."""


class NotFound(APIError):
    """There is no such model, adapter, update or hold."""


class Conflict(APIError):
    """Something else is under way, or the name was used."""


class Unavailable(APIError):
    """Not now: too much to do, paused, or shut down. Nothing was done."""


class ServerError(APIError):
    """The server failed."""


def class_of(status: int, code: str | None) -> type[APIError]:
    """The class of the errors that are answered with a status and a code; 0: inside of a stream."""
    if status == 0:
        return APIError
    if code == "path_not_allowed":
        return PathNotAllowed
    if status in (401, 403):
        return Unauthorized
    if status == 404:
        return NotFound
    if status == 409:
        return Conflict
    if status in (429, 503):
        return Unavailable
    return ServerError if status >= 500 else BadRequest
