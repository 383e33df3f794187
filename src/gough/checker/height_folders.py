"""Certificates of probed heights in a folder, with copies of the configuration that they are about."""

from collections.abc import Iterable
from dataclasses import replace
from glob import glob
from os.path import relpath
from pathlib import Path

from gough.checker.certificate import Verdict
from gough.checker.folders import FolderVerdict
from gough.checker.height_check import check_heights
from gough.checker.height_proofs import KIND, HeightCertificate, digest_of_file, load_heights
from gough.checker.manifest import SOURCES
from gough.checker.raw_printer import includes
from gough.core.errors import InputError, require
from gough.core.sealed import kind_of_file
from gough.core.text import listed

_LARGEST = 16 * 2**20
"""Bytes of a file of a configuration."""
_EXACT = (
    "Arms, the angle of tower c, steps and heights are read from the copy of the configuration as exact decimals. The "
    "box of the towers is part of the certificate."
)
_ENDS = {"HeightEmpty": "a lower end of ε above 0", "HeightWitness": "the upper end of ε"}


def height_files(folder: Path) -> list[Path]:
    """The certificates of probed heights in a folder, or in its folder of certificates."""
    places = (folder, folder / "certificates")
    return next(filter(None, ([path for path in sorted(each.glob("*.json")) if _is_one(path)] for each in places)), [])


def _is_one(path: Path) -> bool:
    try:
        return kind_of_file(path) == KIND
    except InputError:
        return False


def sources_of(certificate: HeightCertificate, folder: Path, own: Path | None = None) -> dict[str, bytes]:
    """The files of the configuration that a certificate names, as far as they are in a folder.

    Args:
        certificate: The certificate.
        folder: Where the files are.
        own: The user's own printer.cfg, in place of the first; it must exist.

    Raises:
        InputError: that file cannot be read.
    """
    found = {}
    for place, (name, _) in enumerate(certificate.sources):
        is_own = own is not None and place == 0
        path = own if own is not None and is_own else folder / name
        try:
            with path.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except OSError as error:
            require(not is_own, f"{path} cannot be read: {error.strerror}")
            continue
        require(len(content) <= _LARGEST, f"{name} has more than {_LARGEST >> 20} MiB, which is not checked")
        found[name] = content
    return found


def check_height_folder(files: Iterable[Path], study: Path | None = None) -> FolderVerdict:
    """Every certificate of probed heights, about the copies of the configuration beside it.

    Args:
        files: The certificates, all in one folder.
        study: The user's own printer.cfg: it and what it includes must equal the copies.
    """
    paths = list(files)
    folder, verdicts, faults = paths[0].parent, dict[str, Verdict](), list[str]()
    used, premises = set[str](), list[str]()
    for path in paths:
        try:
            certificate = load_heights(path)
        except InputError as error:
            faults.append(str(error).replace(f"{folder / 'x'}"[:-1], ""))
            continue
        copies = sources_of(certificate, folder / SOURCES)
        verdicts[path.name] = check_heights(certificate, copies)
        used |= {f"{SOURCES}/{name}" for name, _ in certificate.sources}
        premises += [f"Configuration: {name} ({digest[:19]}…)." for name, digest in certificate.sources]
        faults += [] if study is None else _differences(certificate, study)
    for each in sorted((folder / SOURCES).rglob("*")):
        name = each.relative_to(folder).as_posix()
        if not each.is_dir() and name not in used:
            faults.append(f"{name} is not named by any certificate")
    missing = [words for kind, words in _ENDS.items() if kind not in {each.kind for each in verdicts.values() if each}]
    return FolderVerdict(
        folder,
        verdicts,
        dict.fromkeys(verdicts, SOURCES),
        len(paths),
        tuple(dict.fromkeys(faults)),
        tuple(dict.fromkeys(premises)),
        (_EXACT,),
        (f"{listed(missing)}: no certificate here states it.",) if missing else (),
    )


def check_own(certificate: HeightCertificate, own: Path) -> Verdict:
    """Whether a certificate holds about the user's own printer.cfg and what it includes."""
    verdict = check_heights(certificate, sources_of(certificate, own.parent, own))
    faults = _differences(certificate, own)
    return replace(verdict, holds=False, reason="; ".join(faults)) if verdict and faults else verdict


def _differences(certificate: HeightCertificate, study: Path) -> list[str]:
    """How the user's own files differ from those that a certificate is about."""
    own, digests = sources_of(certificate, study.parent, study), dict(certificate.sources)
    changed = [
        f"{name} is not the file that the certificates are about"
        for name, digest in digests.items()
        if name not in own or digest_of_file(own[name]) != digest
    ]
    reached = dict.fromkeys(name for file, content in own.items() for name in _reached(study.parent, file, content))
    return changed + [
        f"{name} is included, but no source of the certificates" for name in reached if name not in digests
    ]


def _reached(folder: Path, name: str, content: bytes) -> list[str]:
    """The files that one file of a folder includes, by their paths relative to it."""
    place = folder / Path(name).parent
    names = (each for pattern in includes(content) for each in glob(pattern, root_dir=place))  # noqa: PTH207 - not hidden
    found = (place / each for each in names)
    return sorted(Path(relpath(path, folder)).as_posix() for path in found if path.is_file())
