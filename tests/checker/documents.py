"""Certificates as documents that are changed and sealed again, so that only the exact check stands in the way."""

import json

from gough import InputError
from gough.checker import check, load
from gough.checker.files import render
from gough.core.sealed import sealed


def document(certificate):
    return json.loads(render(certificate))


def write(path, data):
    """A file with a right seal, whatever its content."""
    body = dict(data)
    body.pop("seal", None)
    path.write_text(sealed(json.dumps(body, indent=1)[:-2]))
    return path


def leaves(data, path=()):
    """Paths of all numbers in a document; fractions in text count as numbers."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, (*path, key))
    elif (isinstance(data, int | float) and path[0] != "version") or (isinstance(data, str) and "/" in data):
        yield path


def at(data, path):
    for key in path:
        data = data[key]
    return data


def changed(data, path, value):
    if not path:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = changed(data[path[0]], path[1:], value)
    return copy


def lists(data, path=()):
    """Paths of all lists in a document."""
    if isinstance(data, dict | list):
        if isinstance(data, list):
            yield path
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from lists(value, (*path, key))


def accepted(path, data, problem):
    """The proof that the checker accepts, or None."""
    try:
        certificate = load(write(path, data))
    except InputError:
        return None
    return certificate.proof if check(certificate, problem) else None
