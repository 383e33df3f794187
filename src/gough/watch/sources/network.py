"""Datagrams by UDP, and messages by WebSocket [RFC 6455]: lines of JSON or CSV, on loopback by default."""

import select
import socket
import struct
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha1
from typing import Any

from gough.core.errors import InputError, require
from gough.watch.sources.files import batch_of
from gough.watch.sources.lines import LONGEST, Channels, LineDecoder
from gough.watch.sources.source import Batch

_DATAGRAM = 65536
_MANY = 512
"""Datagrams that are taken together."""
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_HEAD = 8192
"""Bytes of the request that opens a WebSocket, at most."""
_TEXT, _BINARY, _CLOSE, _PING, _PONG = 1, 2, 8, 9, 10
_LARGEST = 1 << 22
"""Bytes of a message, at most."""


class _NoResume:
    can_resume = False
    is_live = True
    name = ""

    def position(self) -> dict[str, Any]:
        return {"kind": "network"}

    def resume(self, position: Mapping[str, Any]) -> None:
        del position
        raise InputError(f"{self.name} cannot be resumed from a checkpoint: watch a file that your program writes")


class UdpSource(_NoResume):
    """Datagrams on one port; each holds one or more whole lines. The first line of CSV is the head.

    Datagrams may be lost or come in another order: times tell, and the watch reports gaps and clocks that jump back.
    """

    def __init__(self, host: str, port: int, channels: Channels) -> None:
        self.channels = channels
        self._socket = _listening(host, port, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._socket.setblocking(False)  # noqa: FBT003 - the name of the library
        self.port = int(self._socket.getsockname()[1])
        self.name = f"udp://{host}:{self.port}"
        self._decoder = LineDecoder(channels, self.name)

    def read(self, wait: float) -> Batch | None:
        ready, _, _ = select.select([self._socket], [], [], wait)
        if not ready:
            return Batch.nothing(len(self.channels.names))
        parts: list[bytes] = []
        try:
            while len(parts) < _MANY:
                data = self._socket.recv(_DATAGRAM)
                parts.append(data if data.endswith(b"\n") else data + b"\n")
        except BlockingIOError:
            pass
        return batch_of(self._decoder.take(b"".join(parts)), self.name)

    def close(self) -> None:
        self._socket.close()


class WebSocketSource(_NoResume):
    """A server for one WebSocket at a time, whose messages hold lines; when it closes, another one may follow.

    Requests of web pages of other origins are refused: a page that a person visits cannot send samples.
    """

    def __init__(self, host: str, port: int, channels: Channels) -> None:
        self.channels = channels
        self._server = _listening(host, port, socket.SOCK_STREAM)
        self._server.listen(1)
        self.port = int(self._server.getsockname()[1])
        self.name = f"ws://{host}:{self.port}"
        self._hosts = {f"{host}:{self.port}", f"localhost:{self.port}"}
        self._decoder = LineDecoder(channels, self.name)
        self._peer: socket.socket | None = None
        self._data = b""
        self._is_open = False
        self._message = b""

    def read(self, wait: float) -> Batch | None:
        sockets = [self._server] + ([self._peer] if self._peer else [])
        ready, _, _ = select.select(sockets, [], [], wait)
        lines = b""
        bad: tuple[str, ...] = ()
        if self._server in ready:
            self._accept()
        if self._peer is not None and self._peer in ready:
            try:
                lines = self._receive()
            except _ProtocolError as error:
                bad = (f"{self.name}: {error}; the connection is closed",)
                self._hang_up()
        found = batch_of(self._decoder.take(lines), self.name)
        return Batch(found.times, found.values, (*found.bad, *bad))

    def _accept(self) -> None:
        peer, _ = self._server.accept()
        if self._peer is not None:
            peer.close()  # one at a time
            return
        peer.settimeout(5.0)
        self._peer, self._data, self._is_open, self._message = peer, b"", False, b""

    def _receive(self) -> bytes:
        """Lines of the messages that arrived."""
        assert self._peer is not None
        try:
            data = self._peer.recv(1 << 18)
        except OSError:
            data = b""
        if not data:
            self._hang_up()
            return b""
        self._data += data
        if not self._is_open:
            self._open()
            if not self._is_open:
                return b""
        return b"".join(self._messages())

    def _open(self) -> None:
        """Answer the request that opens the connection, once it is complete."""
        head, mark, rest = self._data.partition(b"\r\n\r\n")
        if not mark:
            if len(self._data) > _HEAD:
                raise _ProtocolError("the request that opens a WebSocket is too long")
            return
        fields = {}
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            fields[name.strip().lower()] = value.strip()
        key, origin = fields.get(b"sec-websocket-key", b""), fields.get(b"origin", b"").decode("ascii", "replace")
        if fields.get(b"upgrade", b"").lower() != b"websocket" or not key:
            raise _ProtocolError("a request that opens no WebSocket")
        if origin and origin.split("//")[-1] not in self._hosts:
            raise _ProtocolError(f"a request from the web page {origin[:60]!r}")
        answer = b64encode(sha1(key + _GUID, usedforsecurity=False).digest())
        assert self._peer is not None
        self._peer.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + answer + b"\r\n\r\n"
        )
        self._data, self._is_open = rest, True

    def _messages(self) -> list[bytes]:
        found = []
        while (frame := self._frame()) is not None:
            is_last, kind, payload = frame
            if kind == _CLOSE:
                self._hang_up()
                break
            if kind == _PING:
                assert self._peer is not None
                self._peer.sendall(bytes([0x80 | _PONG, len(payload)]) + payload)
            elif kind in (0, _TEXT, _BINARY):
                self._message += payload
                if len(self._message) > _LARGEST:
                    raise _ProtocolError("a message is too long")
                if is_last:
                    found.append(self._message if self._message.endswith(b"\n") else self._message + b"\n")
                    self._message = b""
            elif kind != _PONG:
                raise _ProtocolError(f"a frame of the unknown kind {kind}")
        return found

    def _frame(self) -> tuple[bool, int, bytes] | None:
        """The next complete frame: whether it ends a message, its kind, its content."""
        data = self._data
        if len(data) < 2:
            return None
        first, second = data[0], data[1]
        if first & 0x70 or not second & 0x80:
            raise _ProtocolError("a frame that no client may send")
        size, at = second & 0x7F, 2
        if first & 0x08 and size > 125:
            raise _ProtocolError("a frame that no client may send")
        for mark, form in ((126, ">H"), (127, ">Q")):
            if second & 0x7F == mark:
                width = struct.calcsize(form)
                if len(data) < at + width:
                    return None
                (size,) = struct.unpack_from(form, data, at)
                at += width
        if size > _LARGEST:
            raise _ProtocolError("a message is too long")
        if len(data) < at + 4 + size:
            return None
        mask, payload = data[at : at + 4], data[at + 4 : at + 4 + size]
        self._data = data[at + 4 + size :]
        pattern = (mask * (size // 4 + 1))[:size]
        plain = (int.from_bytes(payload, "big") ^ int.from_bytes(pattern, "big")).to_bytes(size, "big")
        return bool(first & 0x80), first & 0x0F, plain

    def _hang_up(self) -> None:
        if self._peer is not None:
            self._peer.close()
        self._peer = None

    def close(self) -> None:
        self._hang_up()
        self._server.close()


class _ProtocolError(Exception):
    """A peer that does not follow the protocol."""


def _listening(host: str, port: int, kind: socket.SocketKind) -> socket.socket:
    require(0 <= port <= 65535, f"a port is a number from 1 to 65535, not {port}")
    one = socket.socket(socket.AF_INET, kind)
    try:
        if kind == socket.SOCK_STREAM:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((host, port))
    except (OSError, OverflowError) as error:
        one.close()
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{host}:{port} cannot be listened on: {reason}. Choose another port, or stop what uses it"
        ) from error
    return one


assert LONGEST < _LARGEST
