"""The page of a certification: verdicts, the smallest tolerance of each chain, boxes, certificates, what is proven."""

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from os.path import relpath
from pathlib import Path
from typing import Any

import numpy as np

import gough
from gough.checker.chain_files import render_question
from gough.checker.manifest import MANIFEST, SOURCES, Given, SourceFile, render_manifest
from gough.closure.findings import Certification, ChainFinding, Finding, sides_as_prior
from gough.core import outward
from gough.region import Box
from gough.report.base.charts import Chart, Line, Panel
from gough.report.base.curves import Curves
from gough.report.base.drawing import Drawing
from gough.report.base.html import Html, tag
from gough.report.base.numbers import signed
from gough.report.base.page import Section, bullets, number_cards, page, paragraphs
from gough.report.base.static import drawn
from gough.report.base.tables import cell, head_cell, row_head, table, word_cell

_PROVEN = """
A statement that is proven holds for every value of the unknowns within the prior and every error within its tolerance:
nothing here is a probability. If a {chain} is refuted, no values within the prior fit all poses. Then a pose, a
tolerance, the model or the prior is wrong, and the proof does not say which. The same holds for a pose that is named as
wrong: it is wrong if the prior, the tolerances and the model are right and no more poses are wrong than stated.
"""
_NOT_PROVEN = """
Not proven: that the tolerances contain the errors, that the prior contains the robot, and that {chain}s outside the
prior do not fit. A {chain} that fits is one that the measurements allow; it need not be the true one.
"""
_EPSILON = """
ε is what every reading's interval must grow by for some {chain} to fit [DACP06, eqs. (15), (16)]. Its lower end is a
proof that less does not suffice, its upper end exhibits a {chain} and measurements that do. Where ε ≤ 0 the intervals
as stated suffice.
"""
_NEEDS = (
    "Above zero, the reading of the best {chain} of the prior must be off by more than its tolerance. A single peak "
    "suggests a wrong pose. Many poses at the same height suggest a wrong model, tolerances stated too small, or a "
    "prior that excludes the robot."
)


def certification_documents(title: str, lead: tuple[str, ...], found: Certification, folder: Path) -> dict[str, bytes]:
    """The files of a folder by name: report, certification.json, certificates with manifest and sources, figures."""
    drawing, curves = needs_figure(found), Curves()
    assert drawing.live is not None
    live = {drawing.name: drawing.live(curves)}
    parts = [
        Section("Verdicts", (bullets(*found.verdicts, *found.notes),)),
        Section("What the verdicts are about", (bullets(*found.premises),)),
        Section("The smallest tolerance", (epsilon_table(found), drawing.html())),
        Section(f"Where the {found.part}s are", tuple(box_table(found))),
        Section("Certificates", (paragraphs(_how(found)), tag("pre", _COMMAND), certificate_table(found))),
        Section(
            "What this proves, and what not",
            (paragraphs(*(text.format(chain=found.part) for text in (_PROVEN, _NOT_PROVEN, _EPSILON))),),
        ),
    ]
    lead = (*lead, *found.tolerances, found.sought)
    html = page(title, lead, tuple(parts), cards=_cards(found), figures=live, curves=curves)
    files = {"report.html": html.encode(), "certification.json": _line(found.to_dict())}
    files |= {f"certificates/{name}": content for name, content in _proofs(found, folder / "certificates").items()}
    return files | {f"figures/{drawing.name}.svg": drawing.svg(), f"figures/{drawing.name}.png": drawing.png()}


def _line(data: dict[str, Any]) -> bytes:
    return f"{json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)}\n".encode()


def _proofs(found: Certification, folder: Path) -> dict[str, bytes]:
    """The files of the folder of certificates: what they speak about, themselves, the sources and the manifest."""
    files = {name: render_question(question) for name, question in found.questions.items()}
    files |= {file.name: file.text for file in found.files}
    contents = {name: text.encode() for name, text in files.items()}
    source = found.source
    texts = () if source is None else (("study", source.study), ("poses", source.poses))
    sources = tuple(
        SourceFile(role, f"{SOURCES}/{role}{each.path.suffix.lower()}", _relative(each.path, folder), each.content)
        for role, each in texts
    )
    given = Given() if source is None else source.given
    manifest = render_manifest(f"gough {gough.__version__}", contents, found.questions, sources, given)
    return contents | {each.name: each.content for each in sources} | {MANIFEST: manifest.encode()}


def _relative(path: Path, folder: Path) -> str:
    """A path as seen from a folder; absolute where there is no way between them."""
    try:
        return Path(relpath(path.absolute(), folder.absolute())).as_posix()
    except ValueError:  # on another drive
        return path.absolute().as_posix()


_COMMAND = "gough check certificates"
_HOW = "Each certificate is checked in exact arithmetic by a program that knows nothing of how it was found. "
_ABOUT = {
    "leg": "All are about measurements.json, which has poses, readings and intervals to the last digit. ",
    "chain": "Those of a chain are about its file of equations, which has every coefficient to the last digit. ",
}
_SOURCES = (
    "The check derives these files anew from copies of study and poses in certificates/sources, and compares all files "
    "with certificates/manifest.json. Where a statement ends with …, gough check of that file prints all of it."
)

_NO_SOURCES = (
    "The check compares all files with certificates/manifest.json. Where a statement ends with …, gough check of that "
    "file prints all of it."
)


def _how(found: Certification) -> str:
    return _HOW + _ABOUT[found.part] + (_SOURCES if found.source is not None else _NO_SOURCES)


def _cards(found: Certification) -> Html:
    worst = max(found.chains, key=lambda chain: chain.epsilon.upper)
    files = list(found.files)
    refuted = sum(chain.finding is Finding.REFUTED for chain in found.chains)
    return number_cards(
        (_verdict(found), "verdict on the model with these intervals"),
        (f"{refuted} of {len(found.chains)}", f"{found.part}s refuted by themselves"),
        (f"{worst.epsilon.words} {found.unit}", f"ε of {found.part} {worst.chain}, the largest"),
        (str(len(files)), "certificates, all checked" if all(f.holds for f in files) else "certificates, some FAIL"),
    )


def _verdict(found: Certification) -> str:
    if found.refuted:
        return "refuted"
    judged = (*found.chains, *(() if found.joint is None else (found.joint,)))
    return "it fits" if all(each.finding is Finding.FITS for each in judged) else "not refuted"


def epsilon_table(found: Certification) -> Html:
    """Verdict and ε of each chain, and of all together."""
    rows = [
        [
            row_head(f"{found.part} {chain.chain}"),
            word_cell(chain.finding.value),
            cell(chain.epsilon.words),
            cell(chain.epsilon.width),
            cell(f"{chain.epsilon.seconds:.2f}"),
            cell(signed(chain.needed_by_least_squares)),
            word_cell(", ".join(map(str, chain.blame[:3])) or "—"),
        ]
        for chain in found.chains
    ]
    if found.joint is not None:
        e = found.joint.epsilon
        shown = [cell(e.words), cell(e.width), cell(f"{e.seconds:.2f}"), cell(""), word_cell("")]
        rows.append([row_head("all together"), word_cell(found.joint.finding.value), *shown])
    words = [head_cell(label, kind="words") for label in ("verdict", "poses that determine ε")]
    fine, squares = f"width, µ{found.unit[1:]}", head_cell("least squares", f"its ε, {found.unit}")
    heads = [found.part, words[0], f"ε, {found.unit}", fine, "time, s", squares, words[1]]
    return table(heads, rows, f"The smallest tolerance of each {found.part}")


def box_table(found: Certification) -> list[Html]:
    """The box of each unknown, about its center; sides that are only the prior's are marked."""
    against = head_cell("against the prior", kind="words")
    heads = ["unknown", "sought around, mm", against, "lower, mm", "upper, mm", "width, mm"]
    rows = [row for chain in found.chains for row in _box_rows(chain)]
    if not rows:
        return [paragraphs(f"No {found.part} is consistent: there is no box to show.")]
    blocks = [table(heads, rows, "Guaranteed box of each unknown"), *map(paragraphs, found.unnarrowed)]
    own = [row for chain in found.chains for row in _parameter_rows(chain)]
    if own:
        words = paragraphs("The robot's own parameters over these boxes, enclosed in interval arithmetic:")
        blocks += [words, table(["parameter", "lower", "upper", "unit"], own, "Guaranteed box of each parameter")]
    if found.joint is not None and found.joint.box is not None:
        names = [name for chain in found.chains for name in chain.names]
        joint = [[row_head(name), *cells] for name, cells in _sides(names, found.joint.box, _prior(found.chains))]
        words = paragraphs(f"All {found.part}s together, the errors of poses being shared:")
        blocks += [words, table(["unknown", *heads[2:]], joint, f"Guaranteed box of all {found.part}s together")]
    return blocks


def _box_rows(chain: ChainFinding) -> list[list[Html]]:
    if chain.box is None:
        return []
    centers = [cell(signed(f"{1e3 * c + 0.0:.4f}".replace("-0.0000", "0.0000"))) for c in chain.center.tolist()]
    rows = zip(centers, _sides(chain.names, chain.box, chain.prior), strict=True)
    return [[row_head(name), center, *cells] for center, (name, cells) in rows]


def _prior(chains: Sequence[ChainFinding]) -> Box | None:
    """The priors of all chains together."""
    priors = [chain.prior for chain in chains if chain.prior is not None]
    if len(priors) < len(chains):
        return None
    return Box(np.concatenate([each.lower for each in priors]), np.concatenate([each.upper for each in priors]))


_AGAINST = {
    (False, False): "narrowed",
    (True, False): "lower side as the prior",
    (False, True): "upper side as the prior",
    (True, True): "as the prior: the data do not narrow it",
}


def _sides(names: Sequence[str], box: Box, prior: Box | None) -> Iterator[tuple[str, list[Html]]]:
    """Of each unknown, how its box compares with the prior, both sides and their distance in mm, rounded outward."""
    same = sides_as_prior(names, box, prior)
    for k, (name, (at_lower, at_upper)) in enumerate(same.items()):
        low, high = float(box.lower[k]), float(box.upper[k])
        lower, upper = outward.sides(low, high, times=1000)
        lower = _prior_side(low, upper=False) if at_lower else lower
        upper = _prior_side(high, upper=True) if at_upper else upper
        width = outward.at_most(Fraction(upper) - Fraction(lower), digits=_ALL_DIGITS)
        against = _AGAINST[at_lower, at_upper] if prior is not None else "—"
        yield name, [word_cell(against), *(cell(signed(text)) for text in (lower, upper, width))]


_ALL_DIGITS = 40
_STATED = Fraction(1, 10**10)
"""mm: priors are widened by less than this when stated decimals become doubles."""


def _prior_side(side: float, *, upper: bool) -> str:
    """A side of the prior in mm: the decimals that were stated, else rounded outward to nine digits."""
    stated = f"{1e3 * side:.9g}"
    if abs(Fraction(stated) - 1000 * Fraction(side)) < _STATED:
        return "0" if Fraction(stated) == 0 else stated
    return (outward.at_most if upper else outward.at_least)(side, times=1000, digits=9)


def _parameter_rows(chain: ChainFinding) -> list[list[Html]]:
    return [
        [
            row_head(own.name),
            *(cell(signed(side)) for side in outward.sides(own.lower, own.upper, times=1000)),
            cell(f"m{own.unit}"),
        ]
        for own in chain.parameters
    ]


def certificate_table(found: Certification) -> Html:
    """What each certificate states, its size and the time of its check."""
    rows = [
        [
            row_head(file.name),
            word_cell(file.words),
            cell(f"{file.size / 1e3:.1f}"),
            cell(f"{file.seconds:.2f}"),
            word_cell("holds" if file.holds else "does not hold"),
        ]
        for file in found.files
    ]
    heads = ["certificate", head_cell("states", kind="words"), "kB", "check, s", head_cell("and", kind="words")]
    return table(heads, rows, "Certificates")


def needs_figure(found: Certification) -> Drawing:
    """What the best chain needs beyond its tolerance at each pose; if poses may be wrong, the best one without them."""
    lines = tuple(Line(f"{found.part} {chain.chain}", 1e3 * chain.needs, k) for k, chain in enumerate(found.chains))
    panel = Panel("needed beyond the tolerance", found.unit, lines, 220)
    chart = Chart(0.0, 1.0, found.poses, "pose", "", (panel,))
    description = (
        f"What the best choice of each {found.part} needs beyond its tolerance at each of {found.poses} poses."
    )
    caption = _NEEDS.format(chain=found.part)
    return Drawing("needs", drawn(chart), description, caption, lambda curves: chart.live(description, curves))
