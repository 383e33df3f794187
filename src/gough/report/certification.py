"""The page of a certification: verdicts, the smallest tolerance of each chain, boxes, certificates, what is proven."""

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from os.path import relpath
from pathlib import Path
from typing import Any

import gough
from gough.checker.chain_files import render_question
from gough.checker.manifest import MANIFEST, SOURCES, Given, SourceFile, render_manifest
from gough.closure.certified_printer import CertifiedPrinter
from gough.closure.findings import Certification, ChainFinding, Finding, sides_as_prior
from gough.core import outward
from gough.core.html import tag
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import listed, poses_counted_from, poses_listed
from gough.region import Box
from gough.report.base.charts import Chart, Line, Panel
from gough.report.base.drawing import Drawing
from gough.report.base.page import Block, Page, Section, Verdict, bullets
from gough.report.base.panels import charted

_PROVEN = """
A proven statement holds for every value of the unknowns within the prior and every error within its tolerance; it is
not a probability. If a {chain} is refuted, no geometry of it within the prior satisfies all poses. Then a pose, a
tolerance, the model or the prior is wrong; the proof does not say which. A pose that is named as wrong is wrong if the
prior, the tolerances and the model are right and no more poses are wrong than stated.
"""
_NOT_PROVEN = """
Not proven: that the tolerances contain the errors, that the prior contains the robot, and that {chain}s outside the
prior do not fit. A {chain} that fits is one that the measurements allow; it need not be the true one.
"""
_EPSILON = """
ε is the amount by which every reading's interval must grow for some {chain} to fit [DACP06, eqs. (15), (16)]. Its lower
end is proven to be insufficient; for its upper end a {chain} and measurements are exhibited. If ε ≤ 0, the stated
intervals suffice.
"""
_NEEDS = (
    "Above zero, the reading of the best {chain} within the prior must be off by more than its tolerance. A single "
    "peak indicates a wrong pose. Many poses at the same height indicate a wrong model, tolerances stated too small, "
    "or a prior that excludes the robot."
)


def certified_printer_documents(title: str, answer: CertifiedPrinter) -> dict[str, bytes]:
    """The files by name: report.html, certification.json and certificates, of a printer's probed heights."""
    kind: Any = "bad" if answer.refuted else "good"
    first = Verdict(answer.headlines()[0], kind, "Compare ε with the repeatability of the probe.")
    sections = (Section("The smallest tolerance", (answer.table(),)),)
    page = Page(title, (), (), (first, *map(Verdict, answer.verdicts)), sections)
    files = page.files() | {"certification.json": f"{answer.to_json()}\n".encode()}
    if answer.certificates is not None and answer.certificates.texts:
        files |= {f"certificates/{name}": text.encode() for name, text in answer.certificates.texts.items()}
        files |= {f"certificates/{SOURCES}/{name}": content for name, content in answer.certificates.files.items()}
    return files


def certification_documents(
    title: str, lead: tuple[str, ...], certification: Certification, folder: Path
) -> dict[str, bytes]:
    """The files of a folder by name: report, certification.json, certificates with manifest and sources, figures."""
    part = certification.part
    sections = (
        Section("What the verdicts are about", (bullets(*certification.premises),)),
        Section("The smallest tolerance", (certification.table(), needs_figure(certification))),
        Section(f"Boxes of the {part}s", tuple(box_tables(certification))),
        Section("Certificates", (_how(certification), tag("pre", _COMMAND), certificate_table(certification))),
        Section(
            "What is proven, and what is not",
            tuple(text.format(chain=part) for text in (_PROVEN, _NOT_PROVEN, _EPSILON)),
        ),
    )
    lead = (*lead, *certification.tolerances, certification.sought)
    verdicts = [*(Verdict(*statement) for statement in certification.statements), *map(Verdict, certification.notes)]
    files = Page(title, lead, _cards(certification), tuple(verdicts), sections).files()
    files["certification.json"] = _line(certification.to_dict())
    proofs = certificate_files(certification, folder / "certificates")
    return files | {f"certificates/{name}": content for name, content in proofs.items()}


def _line(data: dict[str, Any]) -> bytes:
    return f"{json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)}\n".encode()


def certificate_files(certification: Certification, folder: Path) -> dict[str, bytes]:
    """The files of a folder of certificates: what they are about, themselves, the sources and the manifest."""
    files = {name: render_question(question) for name, question in certification.questions.items()}
    files |= {file.name: file.text for file in certification.files}
    contents = {name: text.encode() for name, text in files.items()}
    source = certification.source
    texts = () if source is None else (("study", source.study), ("poses", source.poses))
    sources = tuple(
        SourceFile(role, f"{SOURCES}/{role}{each.path.suffix.lower()}", _relative(each.path, folder), each.content)
        for role, each in texts
    )
    given = Given() if source is None else source.given
    manifest = render_manifest(f"gough {gough.__version__}", contents, certification.questions, sources, given)
    return contents | {each.name: each.content for each in sources} | {MANIFEST: manifest.encode()}


def _relative(path: Path, folder: Path) -> str:
    """A path as seen from a folder; absolute where there is no way between them."""
    try:
        return Path(relpath(path.absolute(), folder.absolute())).as_posix()
    except ValueError:  # on another drive
        return path.absolute().as_posix()


_COMMAND = "gough check certificates"
_HOW = "Each certificate is checked in exact arithmetic by a program that does not depend on how it was found. "
_ABOUT = {
    "leg": "All are about measurements.json, which has poses, readings and intervals to the last digit. ",
    "chain": "All are about equations.json, which has every coefficient to the last digit. ",
}
_SOURCES = (
    "The check derives these files anew from copies of study and poses in certificates/sources, and compares all files "
    "with certificates/manifest.json. Where a statement ends with …, gough check of that file prints all of it."
)

_NO_SOURCES = (
    "The check compares all files with certificates/manifest.json. Where a statement ends with …, gough check of that "
    "file prints all of it."
)


def _how(certification: Certification) -> str:
    return _HOW + _ABOUT[certification.part] + (_SOURCES if certification.source is not None else _NO_SOURCES)


def _cards(certification: Certification) -> tuple[tuple[str, str], ...]:
    worst = max(certification.chains, key=lambda chain: chain.epsilon.upper)
    files = certification.files
    refuted = sum(chain.finding is Finding.REFUTED for chain in certification.chains)
    return (
        _verdict(certification),
        (f"{refuted} of {len(certification.chains)}", f"{certification.part}s refuted by themselves"),
        (f"{worst.epsilon.words} {certification.unit}", f"ε of {certification.part} {worst.chain}, the largest"),
        (str(len(files)), "certificates, all checked" if all(f.holds for f in files) else "certificates, some FAIL"),
    )


def _verdict(certification: Certification) -> tuple[str, str]:
    """The verdict in a word or two, and what to do next."""
    if certification.refuted:
        return "refuted", f"no geometry within the prior fits. {certification.next}"
    judged = (*certification.chains, *(() if certification.joint is None else (certification.joint,)))
    if all(each.finding is Finding.FITS for each in judged):
        return "it fits", "the stated tolerances suffice; the boxes below contain every geometry of the prior that fits"
    return "not refuted", "not all is decided. State a smaller prior (around), or measure more poses."


def box_tables(certification: Certification) -> list[Block]:
    """The box of each unknown, about its center; sides that are only the prior's are marked."""
    sides = [Column(head, unit="mm") for head in ("lower", "upper", "width")]
    rows = [row for chain in certification.chains for row in _box_rows(chain)]
    if not rows:
        return [f"No {certification.part} is consistent: there is no box."]
    heads: list[str | Column] = ["unknown", Column("search center", unit="mm"), "against the prior", *sides]
    blocks: list[Block] = [table(heads, rows, "lrwrrr", "Guaranteed box of each unknown"), *certification.unnarrowed]
    own = [
        [each.name, str(chain.chain), *outward.sides(each.lower, each.upper, times=1000), f"m{each.unit}"]
        for chain in certification.chains
        for each in chain.parameters
    ]
    if own:
        words = (
            "The robot's own parameters over these boxes, enclosed in interval arithmetic. A parameter that chains "
            "share has a row for each of them, and lies in all of these intervals:"
        )
        parameters = table(
            ["parameter", "chain", "lower", "upper", "unit"], own, "llrrl", "Guaranteed box of each parameter"
        )
        blocks += [words, parameters]
    if certification.joint is not None and certification.joint.box is not None:
        names = [name for chain in certification.chains for name in chain.names]
        joint = list(_sides(names, certification.joint.box, certification.joint_prior))
        caption = f"Guaranteed box of {certification.together}"
        together = table(["unknown", "against the prior", *sides], joint, "lwrrr", caption)
        blocks += [f"{certification.together.capitalize()}, which share the errors of the poses:", together]
    return blocks


def _box_rows(chain: ChainFinding) -> list[list[str]]:
    if chain.box is None:
        return []
    centers = [f"{1e3 * c + 0.0:.4f}".replace("-0.0000", "0.0000") for c in chain.center.tolist()]
    rows = zip(centers, _sides(chain.names, chain.box, chain.prior), strict=True)
    return [[name, center, *cells] for center, (name, *cells) in rows]


_AGAINST = {
    (False, False): "narrowed",
    (True, False): "lower side as the prior",
    (False, True): "upper side as the prior",
    (True, True): "as the prior: the data do not narrow it",
}


def _sides(names: Sequence[str], box: Box, prior: Box | None) -> Iterator[list[str]]:
    """For each unknown its name, its box against the prior, both sides and their distance in mm, rounded outward."""
    same = sides_as_prior(names, box, prior)
    for k, (name, (at_lower, at_upper)) in enumerate(same.items()):
        low, high = float(box.lower[k]), float(box.upper[k])
        lower, upper = outward.sides(low, high, times=1000)
        lower = _prior_side(low, upper=False) if at_lower else lower
        upper = _prior_side(high, upper=True) if at_upper else upper
        width = outward.at_most(Fraction(upper) - Fraction(lower), digits=_ALL_DIGITS)
        against = _AGAINST[at_lower, at_upper] if prior is not None else "—"
        yield [name, against, lower, upper, width]


_ALL_DIGITS = 40
_STATED = Fraction(1, 10**10)
"""mm: priors are widened by less than this when stated decimals become doubles."""


def _prior_side(side: float, *, upper: bool) -> str:
    """A side of the prior in mm: the decimals that were stated, else rounded outward to nine digits."""
    stated = f"{1e3 * side:.9g}"
    if abs(Fraction(stated) - 1000 * Fraction(side)) < _STATED:
        return "0" if Fraction(stated) == 0 else stated
    return (outward.at_most if upper else outward.at_least)(side, times=1000, digits=9)


def certificate_table(certification: Certification) -> Table:
    """Statement, size and time of check of each certificate."""
    rows: list[list[str | Cell]] = [
        [
            file.name,
            file.words,
            f"{file.size / 1e3:.1f}",
            f"{file.seconds:.2f}",
            Cell("holds", mark="good") if file.holds else Cell("does not hold", mark="bad"),
        ]
        for file in certification.files
    ]
    heads: list[str | Column] = [
        "certificate",
        "statement",
        Column("size", unit="kB"),
        Column("check", unit="s"),
        "result",
    ]
    return table(heads, rows, "lwrrw", "Certificates")


def needs_figure(certification: Certification) -> Drawing:
    """Reading error beyond the tolerance of the best chain at each pose; without wrong poses, if some may be wrong."""
    lines = tuple(
        Line(f"{certification.part} {chain.chain}", 1e3 * chain.needs, k)
        for k, chain in enumerate(certification.chains)
    )
    panel = Panel("needed beyond the tolerance", certification.unit, lines, 220)
    chart = Chart(0.0, 1.0, certification.poses, "pose", "", (panel,))
    poses = f"each of {certification.poses} poses"
    description = f"Reading error beyond the tolerance that the best {certification.part} needs at {poses}."
    caption = (
        f"{_NEEDS.format(chain=certification.part)} {_against_epsilon(certification)} Poses are "
        f"{poses_counted_from(certification.places)}."
    )
    return charted("needs", chart, description, caption)


def _against_epsilon(certification: Certification) -> str:
    """How the heights of the lines are related to ε, which is another number."""
    part, lines = certification.part, []
    if any(not _is_without(chain) for chain in certification.chains):
        lines.append(f"The highest point of a line is the ε of that {part}, from above, or below zero where that is.")
    left_out: dict[tuple[int, ...], list[str]] = {}
    for chain in certification.chains:
        if chain.without is not None and _is_without(chain):
            left_out.setdefault(chain.without.left_out, []).append(str(chain.chain))
    lines += [
        f"Of {part} {listed(numbers)}, the line is that of the best one without "
        f"{poses_listed(poses, certification.places)}, whose whole error it shows; ε is of all poses, and smaller."
        for poses, numbers in left_out.items()
    ]
    if certification.joint is not None and len(certification.chains) > 1:
        lines.append(f"ε of {certification.together} is larger where the {part}s do not agree about the poses' errors.")
    return " ".join(lines)


def _is_without(chain: ChainFinding) -> bool:
    """Whether the needs of a chain are those of the best one without some poses."""
    return chain.without is not None and bool(chain.without.left_out)
