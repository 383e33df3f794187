"""XML as elements that know their line, so that what cannot be expressed is named with it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from gough.core.errors import InputError
from gough.core.units import LARGEST

_DEEPEST = 200
"""Elements inside one another: bodies of MJCF hang in one another as a chain."""


@dataclass(frozen=True)
class Element:
    """An element of a file."""

    tag: str
    attributes: dict[str, str]
    line: int
    file: Path
    children: list["Element"] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """Pieces of the text between its tags."""

    def __iter__(self) -> Iterator["Element"]:
        return iter(self.children)

    def all(self, *tags: str) -> list["Element"]:
        """The children with one of these tags."""
        return [child for child in self.children if child.tag in tags]

    def first(self, tag: str) -> "Element | None":
        """The first child with this tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def refuse(self, why: str) -> InputError:
        """An error that names the element and its line, to be raised."""
        name = self.attributes.get("name")
        called = f" name='{name}'" if name else ""
        return InputError(f"{self.file}, line {self.line}, <{self.tag}{called}>: {why}")

    @property
    def text(self) -> str:
        """The text between its tags."""
        return "".join(self.texts).strip()

    def required(self, key: str) -> str:
        """An attribute that must be there."""
        if key not in self.attributes:
            raise self.refuse(f"the attribute '{key}' is required")
        return self.attributes[key]

    def numbers(self, key: str, default: str, count: int | None = None) -> list[float]:
        """An attribute of numbers with blanks between them."""
        return self._numbers(self.attributes.get(key, default), key, count)

    def text_numbers(self, count: int) -> list[float]:
        """The numbers that the text of the element is."""
        return self._numbers(self.text, self.tag, count)

    def _numbers(self, text: str, key: str, count: int | None) -> list[float]:
        try:
            values = [float(word) for word in text.split()]
        except ValueError as error:
            raise self.refuse(f"'{key}' must be numbers, but is '{text}'") from error
        plausible = bool(values) and all(abs(value) <= LARGEST for value in values)
        if (count is not None and len(values) != count) or not plausible:
            raise self.refuse(f"'{key}' must be {count or 'some'} finite numbers, but is '{text:.60}'")
        return values

    def number(self, key: str, default: float = 0.0) -> float:
        """An attribute that is one number."""
        return self.numbers(key, repr(default), 1)[0]


def _content(path: Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a name with the character NUL
        raise InputError(f"{str(path)!r} cannot be read: {error}") from error


def read_xml(path: Path, *known: str) -> Element:
    """The root element of an XML file, one of those known.

    Raises:
        InputError: it cannot be read, is no XML, declares a document type, or begins with another element.
    """
    content = _content(path)
    parser = expat.ParserCreate()
    above: list[Element] = []
    roots: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(above) == _DEEPEST:
            raise InputError(
                f"{path}, line {parser.CurrentLineNumber}: elements stand in one another more than {_DEEPEST} deep"
            )
        element = Element(tag, attributes, parser.CurrentLineNumber, Path(path))
        (above[-1].children if above else roots).append(element)
        above.append(element)

    def text(piece: str) -> None:
        above[-1].texts.append(piece)

    def refuse(*_: Any) -> None:
        raise InputError(
            f"{path}, line {parser.CurrentLineNumber}: a document type is declared; such files are not read"
        )

    parser.StartElementHandler = start
    parser.CharacterDataHandler = text
    parser.EndElementHandler = lambda _: above.pop()
    parser.StartDoctypeDeclHandler = refuse  # entities could make a small file endless
    try:
        parser.Parse(content, True)  # noqa: FBT003 - the file is complete
    except InputError:
        raise
    except expat.ExpatError as error:
        raise InputError(f"{path} is not valid XML: {error}") from error
    except (LookupError, ValueError, TypeError) as error:  # an encoding that expat has to ask Python for
        raise InputError(f"{path} is written in an encoding that is not read ({error}); save it as UTF-8") from error
    if roots[0].tag not in known:
        raise roots[0].refuse(f"the root element must be {' or '.join(f'<{tag}>' for tag in known)}")
    return roots[0]
