"""The live page: a small server on this computer only, with a secret in its address and nothing from outside."""

import json
import os
import re
import secrets
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

from gough.core.errors import InputError

HOST = "127.0.0.1"
_FRAMES = 1500
"""Messages that are remembered for pages that open or connect again."""
_EVENTS = 1000
_BEAT = 5.0
"""Seconds between signs of life."""
_VIEWERS = 16
"""Pages that may be open at the same time."""
_LATEST = ("status", "sets")
"""Kinds of messages of which only the last one counts."""


@dataclass(frozen=True)
class _Message:
    number: int
    kind: str
    text: str

    def data(self, run: str) -> bytes:
        return f"id: {run}-{self.number}\nevent: {self.kind}\ndata: {self.text}\n\n".encode()


class Board:
    """Messages for pages: each has a number, so that a page that connects again gets what it missed.

    Numbers begin anew with every run of a watch: a page that knows those of another run gets all messages.
    """

    def __init__(self) -> None:
        self.run = secrets.token_hex(4)
        self._news = threading.Condition()
        self._messages: deque[_Message] = deque(maxlen=_FRAMES)
        self._events: deque[_Message] = deque(maxlen=_EVENTS)
        self._latest: dict[str, _Message] = {}
        self._number = 0
        self.is_over = False

    def post(self, kind: str, content: Any) -> None:
        """Hand a message to all pages."""
        text = json.dumps(content, ensure_ascii=True, allow_nan=False)
        with self._news:
            self._number += 1
            message = _Message(self._number, kind, text)
            if kind == "event":
                self._events.append(message)
            elif kind in _LATEST:
                self._latest[kind] = message
            else:
                self._messages.append(message)
            self._news.notify_all()

    def end(self) -> None:
        """Tell pages that nothing will follow."""
        with self._news:
            self.is_over = True
        self.post("end", {})

    def number_of(self, last: str) -> int:
        """The number of the last message that a page has got, from what it says; 0 where it is of another run."""
        run, _, number = last.partition("-")
        known = run == self.run and number.isdecimal() and number.isascii() and len(number) < 16
        return int(number) if known else 0

    def after(self, number: int, wait: float) -> list[_Message]:
        """Messages after a number, in order; none if nothing comes within `wait` seconds."""
        with self._news:
            if self._number <= number:
                self._news.wait(wait)
            every = (*self._events, *self._messages, *self._latest.values())
            return sorted((each for each in every if each.number > number), key=lambda each: each.number)


class LivePage:
    """Serves the page of a watch on loopback, at an address with a random token; it runs in its own threads.

    With a file in which port and token are kept, a page that is open finds the next run of the watch again.
    """

    def __init__(self, about: Mapping[str, Any], port: int = 0, kept: Path | None = None) -> None:
        self.board = Board()
        before, self.token = _kept(kept)
        template = files("gough.watch").joinpath("page.html").read_text(encoding="utf-8")
        # "<" cannot end the script in which the text stands
        self._page = template.replace("ABOUT", json.dumps(dict(about)).replace("<", "\\u003c"), 1)
        self._server = _server(port, before)
        self._server.page = self
        self.port = int(self._server.server_address[1])
        if kept is not None:
            _keep(kept, self.port, self.token)
        self.viewers = threading.BoundedSemaphore(_VIEWERS)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.2,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The address of the page, token included."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def close(self) -> None:
        """Tell pages that the watch has ended, and stop."""
        self.board.end()
        self._server.shutdown()
        self._server.server_close()

    def page(self) -> tuple[bytes, str]:
        """The page, and the policy that lets it load nothing but itself."""
        nonce = secrets.token_urlsafe(12)
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; "
            "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        )
        return self._page.replace("NONCE", nonce).encode(), policy


def _server(port: int, before: int) -> "_Server":
    """A server on this port; where none is asked for, on that of the last run, or on a free one."""
    if port == 0 and before:
        with suppress(OSError, OverflowError):
            return _Server((HOST, before), _Handler)
    try:
        return _Server((HOST, port), _Handler)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"the page cannot be served on port {port}: {reason}; choose another --port") from error


def _kept(path: Path | None) -> tuple[int, str]:
    """Port and token of the last run; 0 and a new token where there are none that can be used."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        if path is not None:
            data = json.loads(path.read_text(encoding="utf-8"))
            port, token = data["port"], data["token"]
            if type(port) is int and isinstance(token, str) and re.fullmatch(r"[\w-]{24}", token, re.ASCII):
                return port, token
    return 0, secrets.token_urlsafe(18)


def _keep(path: Path, port: int, token: str) -> None:
    """Write port and token to a file that only this user can read."""
    path.unlink(missing_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, json.dumps({"port": port, "token": token}).encode())
    finally:
        os.close(file)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    page: LivePage


class _Handler(BaseHTTPRequestHandler):
    """Answers requests for the page or its stream; all others are not found."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    server: _Server

    def do_GET(self) -> None:
        """Answer a request."""
        page = self.server.page
        own = {f"{HOST}:{page.port}", f"localhost:{page.port}"}
        # a name that an attacker points at this computer is no name of ours
        if self.headers.get("Host", "") not in own:
            self._refuse(421)
        elif secrets.compare_digest(self.path.encode(), f"/{page.token}/".encode()):
            self._page()
        elif secrets.compare_digest(self.path.encode(), f"/{page.token}/stream".encode()):
            self._stream()
        else:
            self._refuse(404)

    def _refuse(self, code: int) -> None:
        self.send_response(code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _page(self) -> None:
        content, policy = self.server.page.page()
        self.send_response(200)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(content))),
            ("Content-Security-Policy", policy),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _stream(self) -> None:
        viewers = self.server.page.viewers
        if not viewers.acquire(blocking=False):
            self._refuse(503)
            return
        try:
            self._send_messages()
        except OSError:
            pass  # the page was closed
        finally:
            viewers.release()

    def _send_messages(self) -> None:
        self.send_response(200)
        for name, value in (
            ("Content-Type", "text/event-stream"),
            ("Cache-Control", "no-store"),
            ("Connection", "close"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        board = self.server.page.board
        number = board.number_of(self.headers.get("Last-Event-ID", ""))
        self.wfile.write(b"retry: 1000\n\n")
        while True:
            messages = board.after(number, _BEAT)
            self.wfile.write(b"".join(each.data(board.run) for each in messages) or b": alive\n\n")
            self.wfile.flush()
            if messages:
                number = messages[-1].number
                if messages[-1].kind == "end":
                    return

    def log_message(self, *args: object) -> None:
        """Requests are not logged: addresses hold the token."""
