"""Ways to spoil a file: its bytes, its tokens, its structure. All draw from one seeded generator and nothing else."""

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from random import Random

import numpy as np

from gough.core.sealed import sealed, unsealed

NUMBERS = (
    *(
        "0",
        "-0.0",
        "1",
        "-1",
        "2",
        "0.5",
        "1e308",
        "-1e308",
        "1e-320",
        "5e-324",
        "1e400",
        "-1e400",
        "inf",
        "-inf",
        "nan",
    ),
    *("9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e5", "1e16", "1e200"),
    *("9" * 400, "9" * 4301, "0x10", "1_000", "1/3", "1/0", "1,5", "٣", "0." + "0" * 320 + "1", "1e", "--1", "+", ""),
)
"""Numbers at the edges of every type, and texts that are nearly numbers."""
TEXTS = (
    *(
        "",
        " ",
        "\x00",
        "\x1b[31m",
        "\x1b[2K\rThe certificate holds",
        "a\nb",
        "\r",
        "\t",
        "[/x]",
        "[red]",
        "[bold",
        "%s",
    ),
    *(
        "{0}",
        "\u202e",
        "\ufeff",
        "\x85",
        "ÿ",
        "Ω",
        "日本語",
        "😀",
        "</script>",
        "'\"<&>",
        "\\",
        "..",
        "/",
        "/dev/null",
        "~",
    ),
    *("x" * 300, "x" * 5000, "mm", "deg", "kg·m²", "m/0", "m^9", "1/", "mm²³", "°C", "rev/0", "base", "world", "time"),
    *(
        "true",
        "null",
        "nan",
        "-",
        "#",
        '"',
        "'",
        "=",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        "*",
        "**",
        "include *",
        "h4",
        "gough",
    ),
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_DEEP = (30, 120, 700, 3000)

Mutator = Callable[[bytes, Random, "list[bytes]"], bytes]


def spoil(seeds: list[bytes], rng: Random, ways: tuple[Mutator, ...]) -> bytes:
    """One of the seeds, spoiled once to four times; now and then left as it is."""
    data = rng.choice(seeds)
    if rng.random() < 0.01:
        return data
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3))):
        data = rng.choice(ways)(data, rng, seeds)
    return data


def flip_bits(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    spoilt = bytearray(data)
    for _k in range(rng.choice((1, 1, 2, 4, 16))):
        if spoilt:
            spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
    return bytes(spoilt)


def set_bytes(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    spoilt = bytearray(data)
    for _k in range(rng.choice((1, 1, 2, 4))):
        if spoilt:
            spoilt[rng.randrange(len(spoilt))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, 0xFE, rng.randrange(256)))
    return bytes(spoilt)


def truncate(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def delete(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    begin = rng.randrange(len(data) + 1)
    return data[:begin] + data[begin + rng.choice((1, 2, 8, 50, 300)) :]


def duplicate(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    begin = rng.randrange(len(data) + 1)
    part = data[begin : begin + rng.choice((1, 4, 30, 200))]
    return data[:begin] + part * rng.choice((2, 2, 3, 40)) + data[begin:]


def splice(data: bytes, rng: Random, seeds: list[bytes]) -> bytes:
    other = rng.choice(seeds)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def insert(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    begin = rng.randrange(len(data) + 1)
    return data[:begin] + _hostile(rng).encode("utf-8", "surrogatepass") + data[begin:]


def word32(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """An absurd length where a binary format may have one."""
    if len(data) < 8:
        return data
    begin = rng.randrange(len(data) - 7)
    value = rng.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10000, len(data)))
    order = rng.choice("<>")
    return data[:begin] + struct.pack(f"{order}I", value) + data[begin + 4 :]


BYTES: tuple[Mutator, ...] = (flip_bits, set_bytes, truncate, delete, duplicate, splice, insert)
BINARY: tuple[Mutator, ...] = (*BYTES, word32, word32)


def numbers(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    return _replaced(data, rng, _NUMBER, lambda: rng.choice(NUMBERS))


def strings(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    text = rng.choice(TEXTS)
    quoted = json.dumps(text, ensure_ascii=rng.random() < 0.5) if rng.random() < 0.7 else f'"{text}"'
    return _replaced(data, rng, _STRING, lambda: quoted)


def words(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    others = _WORD.findall(data.decode("utf-8", "replace"))
    return _replaced(data, rng, _WORD, lambda: rng.choice((*TEXTS[:20], *others)))


def lines(data: bytes, rng: Random, seeds: list[bytes]) -> bytes:
    """Lines left out, doubled, exchanged, or taken from another file."""
    own = data.split(b"\n")
    k, j = rng.randrange(len(own)), rng.randrange(len(own))
    match rng.randrange(4):
        case 0:
            del own[k]
        case 1:
            own.insert(j, own[k])
        case 2:
            own[k], own[j] = own[j], own[k]
        case _:
            own.insert(k, rng.choice(rng.choice(seeds).split(b"\n")))
    return b"\n".join(own)


def nest(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """Brackets upon brackets."""
    depth = rng.choice(_DEEP)
    begin, end = rng.choice((("[", "]"), ('{"a":', "}"), ("{a=", "}"), ("[[", "]]"), ("<body>", "</body>"), ("(", ")")))
    inner = begin * depth + rng.choice(("1", "", '"x"')) + (end * depth if rng.random() < 0.7 else "")
    return _replaced(data, rng, rng.choice((_NUMBER, _STRING, _WORD)), lambda: inner)


TEXT: tuple[Mutator, ...] = (*BYTES, numbers, numbers, numbers, strings, strings, words, lines, lines, nest)


def toml_value(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """A value of another type, or an extreme one, for a key."""
    values = (
        *("[]", "{}", "[[]]", "true", "false", "1979-05-27", "07:32:00", '""', '"x"', "[1, 2]", '["a"]', "{a = 1}"),
        *("[1, [2, [3]]]", '"1 mm"', '"-5 deg"', '"1e400 m"', '[""]', '["0 mm", "1e308 m"]', "-1", "0", "1e308", "nan"),
    )
    value = rng.choice(values) if rng.random() < 0.6 else rng.choice(NUMBERS)
    text = data.decode("utf-8", "replace").split("\n")
    keyed = [k for k, line in enumerate(text) if "=" in line]
    if keyed:
        k = rng.choice(keyed)
        text[k] = f"{text[k].split('=')[0]}= {value}"
    return "\n".join(text).encode()


def toml_key(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """A key or a table's name that is another one."""
    text = data.decode("utf-8", "replace").split("\n")
    k = rng.randrange(len(text))
    key = rng.choice((json.dumps(rng.choice(TEXTS)), "a.b.c", "", *_WORD.findall("\n".join(text))[:30]))
    text[k] = f"[{key}]" if text[k].startswith("[") else f"{key} ={text[k].partition('=')[2]}"
    return "\n".join(text).encode()


TOML: tuple[Mutator, ...] = (*TEXT, toml_value, toml_value, toml_value, toml_value, toml_key)


def xml_attribute(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    pick = rng.random()
    value = rng.choice(NUMBERS) if pick < 0.4 else " ".join(rng.choices(NUMBERS[:20], k=rng.randrange(8)))
    value = rng.choice(TEXTS) if pick > 0.8 else value
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return _replaced(data, rng, re.compile(r'(?<=")[^"<>\n]*(?=")'), lambda: value)


def xml_element(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """An element left out, doubled, renamed, or deep inside copies of itself."""
    text = data.decode("utf-8", "replace")
    found = list(re.finditer(r"<(\w+)[^<>]*/>|<(\w+)[^<>]*>.*?</\2>", text, re.DOTALL))
    if not found:
        return data
    one = rng.choice(found)
    tag = one[1] or one[2]
    depth = rng.choice((2, 20, 500, 2500))
    tags = ("frame", "joint", "body", "freejoint", "include", "link", "site", "weld", "tendon", "default", "x")
    new = rng.choice(
        (
            "",
            one[0] * 2,
            one[0].replace(tag, rng.choice(tags)),
            f"<{tag}>" * depth + one[0] + f"</{tag}>" * depth,
            '<body><inertial mass="1"/>' * depth + one[0] + "</body>" * depth,
        )
    )
    return (text[: one.start()] + new + text[one.end() :]).encode("utf-8", "replace")


def xml_head(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """An encoding, a document type, or a byte order mark before the file."""
    names = (
        "utf-16",
        "latin-1",
        "utf-7",
        "cp037",
        "euc-jp",
        "rot13",
        "idna",
        "x",
        "",
        "\x00",
        "utf-8-sig",
        "big5",
        "hex",
    )
    head = rng.choice(
        (
            f'<?xml version="1.0" encoding="{rng.choice(names)}"?>',
            '<!DOCTYPE a [<!ENTITY b "c">]>',
            "\ufeff",
            '<?xml version="9.9"?>',
            "<!-- -- -->",
        )
    )
    return head.encode(rng.choice(("utf-8", "utf-16"))) + data


XML: tuple[Mutator, ...] = (*TEXT, xml_attribute, xml_attribute, xml_attribute, xml_element, xml_element, xml_head)


def csv_cell(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    rows = data.decode("utf-8", "replace").split("\n")
    k = rng.randrange(len(rows))
    cells = rows[k].split(",")
    cells[rng.randrange(len(cells))] = rng.choice(NUMBERS if rng.random() < 0.7 else TEXTS)
    rows[k] = ",".join(cells)
    return "\n".join(rows).encode()


def csv_column(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """A column that is left out, doubled, or constant."""
    rows = [row.split(",") for row in data.decode("utf-8", "replace").split("\n")]
    k, what, value = rng.randrange(len(rows[0])), rng.randrange(3), rng.choice(NUMBERS)
    for row in rows:
        if k < len(row):
            row[k : k + 1] = ([], [row[k]] * 2, [row[k] if row is rows[0] else value])[what]
    return "\n".join(",".join(row) for row in rows).encode()


def csv_form(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """Another separator, another end of line, another encoding."""
    text = data.decode("utf-8", "replace")
    return rng.choice(
        (
            lambda: text.replace(",", rng.choice((";", "\t", " ", "|", ""))).encode(),
            lambda: text.replace("\n", rng.choice(("\r", "\r\n", "\n\n", ""))).encode(),
            lambda: text.encode("utf-16"),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: text.replace(".", ",").replace(",", ";").encode(),
            lambda: b"# " + data,
        )
    )()


CSV: tuple[Mutator, ...] = (*TEXT, csv_cell, csv_cell, csv_cell, csv_column, csv_form)


def json_leaf(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """A value, a key or a list of a JSON document that is another one; a certificate is sealed again."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    places = list(_places(document))
    if not places:
        return data
    holder, key = rng.choice(places)
    match rng.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(0, holder[key])
        case 2 if isinstance(holder, dict):
            holder[rng.choice(("", "\ud800", "\x1b[1m", "a", "version", key + "x"))] = holder.pop(key)
        case 3:
            other, name = rng.choice(places)
            if name in other if isinstance(other, dict) else name < len(other):
                holder[key] = other[name]
        case _:
            holder[key] = _hostile_json(rng)
    try:
        return _sealed_again(json.dumps(document, ensure_ascii=rng.random() < 0.5, indent=1).encode("utf-8"))
    except (ValueError, RecursionError):
        return data


def reseal(data: bytes, _: Random, __: list[bytes]) -> bytes:
    """The right seal for whatever a certificate holds now."""
    return _sealed_again(data)


JSON: tuple[Mutator, ...] = (*TEXT, *(json_leaf,) * 12, reseal, reseal)


def arrays(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """An array of an .npz file that has another type, shape or name, or is gone."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except Exception:  # noqa: BLE001 - it is spoilt already
        return data
    if not found or any(array.size > 10**6 for array in found.values()):  # 10¹² items of no bytes take hours to save
        return data
    name = rng.choice(sorted(found))
    value = found.pop(name)
    values: tuple[object, ...] = (
        np.float64(np.nan), np.inf, -1, 0, 10**18, np.zeros((0,)), np.zeros((2, 0)), np.zeros((1, 2, 3)),
        np.array(["x"]), np.array(["\x1b[31m", "\n"]), np.array([True]), np.array([1j]), np.array([b"x"]),
        np.array(["2026-01-01"], "M8[D]"), np.array(5, "m8[s]"), np.float16(1), np.longdouble(1) / 3, np.array("ü"),
        np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]), np.full(np.shape(value), np.nan),
        np.full(np.shape(value), 1e308),
        np.array([np.uint64(2**63 + 1)]), value.T, value.ravel(), value[None], np.frombuffer(b"\xff\xff\xff\x7f", "U1"),
        np.frombuffer(b"\x00\xd8\x00\x00", "U1"), value[:0] if np.ndim(value) else value, -np.ones(np.shape(value)),
    )  # fmt: skip
    if rng.random() < 0.85:
        found[name if rng.random() < 0.9 else rng.choice(("", "x", "W", "rate", "time", "\x1b", "a/b"))] = rng.choice(
            values
        )
    out = io.BytesIO()
    try:
        with np.errstate(all="ignore"):
            np.savez(out, allow_pickle=False, **found)
    except (ValueError, TypeError):
        return data
    return out.getvalue()


def npy_header(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """A shape or type that an array inside an .npz file only claims to have."""
    shape = rng.choice(
        ("(1000000000000,)", "(-1,)", "(9, 9)", "(2.5,)", "()", "(9999999999999999999999,)", "((((1,),),),)")
    )
    kind = rng.choice(("<f8", "|O", "<U1000000000", "|V99999999", "<M8[s]", "x", "<f16", ">c16", "|S0"))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            parts = {name: archive.read(name) for name in names}
    except Exception:  # noqa: BLE001 - it is spoilt already
        return data
    if not names:
        return data
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    made = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
    parts[rng.choice(names)] = made + rng.randbytes(rng.choice((0, 8, 64)))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


NPZ: tuple[Mutator, ...] = (*BINARY, *(arrays,) * 8, npy_header, npy_header)


def png_head(data: bytes, rng: Random, _: list[bytes]) -> bytes:
    """Another size or depth in the head of a PNG file, with a right checksum."""
    if not data.startswith(b"\x89PNG") or len(data) < 33:
        return data
    width, height = (rng.choice((0, 1, 7, 2**15, 2**31 - 1, 2**31, 2**32 - 1)) for _k in range(2))
    depth, color = rng.choice((1, 2, 4, 8, 16, 3)), rng.choice((0, 2, 3, 4, 6, 9))
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, rng.choice((0, 1)))
    return data[:12] + head + struct.pack(">I", zlib.crc32(head)) + data[33:]


IMAGE: tuple[Mutator, ...] = (*BINARY, png_head, png_head)


def _replaced(data: bytes, rng: Random, pattern: "re.Pattern[str]", new: Callable[[], str]) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    found = list(pattern.finditer(text))
    if not found:
        return data
    one = rng.choice(found)
    return (text[: one.start()] + new() + text[one.end() :]).encode("utf-8", "surrogateescape")


def _hostile(rng: Random) -> str:
    return rng.choice(rng.choice((NUMBERS, TEXTS)))


def _hostile_json(rng: Random) -> object:
    return rng.choice(
        (
            *(None, True, False, [], {}, "", 0, -1, 1, 2, 1.5, -0.0, 1e308, 5e-324, 10**30, 10**400, [[]], {"a": []}),
            *(
                "1/3",
                "-1/3",
                "1/0",
                "0/1",
                "0x1/0x3",
                "9" * 5000 + "/1",
                "\ud800",
                "\x1b[31m",
                "a\nb",
                "a",
                "b",
                "x" * 300,
            ),
            [[0, 1.0]],
            [[-1, 1]],
            [[0, "1/0"]],
            [["a", 1]],
            [0],
            ["a"],
            {"a": 1},
            {"a": "1/3", "b": -2},
            float("inf"),
            float("nan"),
            [1e308] * 3,
        )
    )


def _places(document: object, depth: int = 0) -> "list[tuple[object, object]]":
    if depth > 40 or not isinstance(document, dict | list):
        return []
    keys = list(document) if isinstance(document, dict) else list(range(len(document)))
    return [(document, k) for k in keys] + [p for k in keys for p in _places(document[k], depth + 1)]


def _sealed_again(data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    if '"seal"' not in text:
        return data
    body = unsealed(text)
    if not body:  # `json.dumps` has written it in another way
        body = re.sub(r',\s*"seal":\s*"[^"]*"\s*\}\s*$', "", text)
    return sealed(body).encode("utf-8", "replace")
