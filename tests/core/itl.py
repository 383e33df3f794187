"""A reader of the ITF1788 test vectors (.itl files)."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
CASES = re.compile(r"testcase\s+(\S+)\s*\{((?:\"[^\"]*\"|\{[^}]*\}|[^}\"{])*)\}", re.DOTALL)
STATEMENT = re.compile(r"((?:\"[^\"]*\"|[^;\"])*);")
TOKEN = re.compile(r"\[[^\]]*\](?:_\w+)?|\"[^\"]*\"|\{[^}]*\}|<=|=|[^\s=<]+")
DECORATIONS = ("com", "dac", "def", "trv", "ill")


@dataclass(frozen=True)
class Bare:
    """The interval [lower, upper]; the empty one has NaN ends."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Decorated:
    """An interval with a decoration, or [nai]."""

    text: str


@dataclass(frozen=True)
class Case:
    """`operation inputs = outputs [signal exception]`."""

    file: str
    group: str
    operation: str
    inputs: tuple
    outputs: tuple
    signal: str | None
    text: str


def number(text: str) -> float:
    """A decimal or hexadecimal number, to nearest; the vectors' own numbers are exact doubles or decimals."""
    low = text.lower()
    return float.fromhex(text) if "x" in low else float(low)


def value(token: str) -> object:
    """What a token of a statement denotes: an interval, a text, a list, a boolean, a number, or a word."""
    if token.startswith("["):
        return interval(token)
    if token.startswith('"'):
        return token[1:-1]
    if token.startswith("{"):
        return tuple(number(part.strip()) for part in token[1:-1].split(","))
    if token in ("true", "false"):
        return token == "true"
    try:
        return number(token)
    except ValueError:
        return token


def interval(token: str) -> Bare | Decorated:
    body, _, decoration = token.rpartition("_") if not token.endswith("]") else (token, "", "")
    inside = body[1:-1].strip().lower()
    if decoration or inside == "nai":
        return Decorated(token)
    if inside == "empty":
        return Bare(math.nan, math.nan)
    if inside == "entire":
        return Bare(-math.inf, math.inf)
    ends = [number(end.strip()) for end in inside.split(",")]
    return Bare(ends[0], ends[-1])


def read(path: Path) -> Iterator[Case]:
    """All cases of a file, in order."""
    text = COMMENT.sub("", path.read_text(encoding="utf-8"))
    for group, body in CASES.findall(text):
        for statement in STATEMENT.findall(body):
            tokens = TOKEN.findall(statement)
            signal = None
            if "signal" in tokens:
                signal = tokens[tokens.index("signal") + 1]
                tokens = tokens[: tokens.index("signal")]
            equals = tokens.index("=")
            accurate = tokens.index("<=") if "<=" in tokens else len(tokens)
            inputs = tuple(value(token) for token in tokens[1:equals])
            outputs = tuple(value(token) for token in tokens[equals + 1 : accurate])
            yield Case(path.name, group, tokens[0], inputs, outputs, signal, " ".join(statement.split()))
