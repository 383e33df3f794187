"""Sources of samples: files, folders, standard input, UDP and WebSocket."""

import re
from pathlib import Path

from gough.core.errors import InputError
from gough.core.files import is_folder
from gough.watch.sources.files import GrowingFile, StandardInput
from gough.watch.sources.folder import Reader, RecordingFolder
from gough.watch.sources.lines import Channels
from gough.watch.sources.network import UdpSource, WebSocketSource
from gough.watch.sources.source import Batch, Source

__all__ = ["Batch", "Channels", "Source", "open_source"]

_ADDRESS = re.compile(r"(udp|ws)(?:://)?(?:([^:/]*):)?(\d{1,5})/?")
_LINES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".log", "")


def open_source(text: str, channels: Channels, reader: Reader, *, follow: bool = True) -> Source:
    """The source that a text names: a file, a folder, "-", "udp:PORT" or "ws:PORT".

    A host may stand before the port, as in "udp://0.0.0.0:9000"; without it, only this computer can send.

    Raises:
        InputError: there is no such file, or the port cannot be listened on.
    """
    if text == "-":
        return StandardInput(channels)
    match = _ADDRESS.fullmatch(text)
    if match:
        kind = UdpSource if match[1] == "udp" else WebSocketSource
        return kind(match[2] or "127.0.0.1", int(match[3]), channels)
    if re.match(r"[a-z]+://", text):
        raise InputError(f"'{text}' is no source: give a file, a folder, -, udp:PORT or ws:PORT")
    path = Path(text)
    if is_folder(path):
        return RecordingFolder(path, reader, len(channels.names), follow=follow)
    if path.suffix.lower() in _LINES or not path.exists():
        return GrowingFile(path, channels, follow=follow)
    return RecordingFolder(path, reader, len(channels.names), follow=False)
