"""Calls over HTTP: keys, errors, and which calls may be sent again."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

from .errors import APIError, ConnectionFailed, Unavailable, class_of

Query = Mapping[str, str | float | bool | None]
Body = bytes | Iterable[bytes | memoryview]

_CONNECTIONS = 32  # kept open
_CONNECT_SECONDS = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0  # seconds between tries


class Transport:
    """A server, as a client sees it. Any number of threads may use one."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None,
        admin_token: str | None,
        timeout: float,
        patience: float,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        self.url = url.rstrip("/")
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is no URL of HTTP: give one such as http://127.0.0.1:8000")
        self.patience = patience
        self._keys = {False: api_key, True: admin_token or api_key}
        self._timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=timeout)
        self._pool = urllib3.PoolManager(maxsize=_CONNECTIONS, retries=False, ssl_context=ssl_context)

    def close(self) -> None:
        """Closes the connections that nobody uses."""
        self._pool.clear()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        data: object = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
        admin: bool = False,
        again: bool | None = None,
    ) -> dict[str, Any]:
        """The JSON object that a call is answered with; {} for an empty answer.

        data is sent as JSON, body as it is. What can be read once only, such as a generator,
        is no body: a call may be sent several times. again says that one that arrives twice does
        the same as one that arrives once; None: that all do but a POST.
        """
        if again is None:
            again = method != "POST"
        response = self._send(_Call(method, path, query, data, body, headers, admin, again))
        try:
            return _object(response.data)
        except HTTPError as error:
            raise ConnectionFailed(f"{method} {path}: {error}") from error
        finally:
            response.release_conn()

    @contextmanager
    def stream(self, path: str, data: object) -> Iterator[Iterator[bytes]]:
        """The data of the server-sent events that a POST is answered with. Leaving it early
        closes the connection, whereupon the server ends the request."""
        response = self._send(_Call("POST", path, data=data))
        try:
            yield _events(response, path)
        finally:
            response.close()

    def _send(self, call: _Call) -> urllib3.BaseHTTPResponse:
        """A good answer, whose body is not read yet. What was refused for now is sent again
        for as long as patience lasts, and so is what had no answer, if twice does no harm."""
        until, pause = time.monotonic() + self.patience, _FIRST_PAUSE
        while True:
            wait = pause
            try:
                response = self._once(call)
                if response.status < 300:
                    return response
                error: APIError | ConnectionFailed = _refusal(response)
                if not isinstance(error, Unavailable) or error.retry_after is None:
                    raise error
                wait = max(pause, error.retry_after)
            except HTTPError as failure:
                error = ConnectionFailed(f"{call.method} {self.url}{call.path}: {failure}")
                arrived = not isinstance(failure, (NewConnectionError, ConnectTimeoutError))
                if arrived and not call.again:
                    raise error from failure
            if time.monotonic() + wait > until:
                raise error
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _once(self, call: _Call) -> urllib3.BaseHTTPResponse:
        headers = dict(call.headers or {})
        body = cast("bytes | Iterable[bytes] | None", call.body)  # any buffer is as good as bytes
        key = self._keys[call.admin]
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        if call.data is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(call.data).encode()
        return self._pool.urlopen(
            call.method,
            self.url + call.path + _encoded(call.query),
            body=body,
            headers=headers,
            timeout=self._timeout,
            preload_content=False,
            redirect=False,
        )


@dataclass(frozen=True)
class _Call:
    method: str
    path: str
    query: Query | None = None
    data: object = None
    body: Body | None = None
    headers: Mapping[str, str] | None = None
    admin: bool = False
    again: bool = False  # if there was no answer


def segment(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")


def _encoded(query: Query | None) -> str:
    told = {}
    for name, value in (query or {}).items():
        if value is not None and value != "":
            told[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return "?" + urlencode(told) if told else ""


def _object(data: bytes) -> dict[str, Any]:
    if not data.strip():
        return {}
    try:
        value = json.loads(data)
    except ValueError as error:
        raise ConnectionFailed(f"the answer is no JSON: {data[:80]!r}") from error
    if not isinstance(value, dict):
        raise ConnectionFailed(f"the answer is no JSON object: {data[:80]!r}")
    return value


def _refusal(response: urllib3.BaseHTTPResponse) -> APIError:
    """The error that an answer tells of."""
    try:
        told = _object(response.data)
    except (HTTPError, ConnectionFailed):
        told = {}
    finally:
        response.release_conn()
    try:
        after = float(response.headers.get("Retry-After", ""))
    except ValueError:
        after = None
    return error_of(told, response.status, after)


def error_of(told: Mapping[str, Any], status: int, retry_after: float | None = None) -> APIError:
    """The error in an object of OpenAI's form."""
    error = told.get("error")
    if not isinstance(error, dict):
        error = {"message": f"the server answers with status {status}"}
    message, code, param = str(error.get("message")), error.get("code"), error.get("param")
    return class_of(status, code)(message, status=status, code=code, param=param, retry_after=retry_after)


def _events(response: urllib3.BaseHTTPResponse, path: str) -> Iterator[bytes]:
    rest = b""
    try:
        while piece := response.read1(1 << 16):  # what is there, without waiting for more
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line.startswith(b"data:"):
                    yield line[5:].strip()
    except HTTPError as error:
        raise ConnectionFailed(f"POST {path}: the stream broke off: {error}") from error
