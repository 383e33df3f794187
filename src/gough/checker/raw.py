"""Certificates and raw data: the sources of a run, what they state, and whether a certificate is about that."""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from gough.checker.chain_questions import ChainQuestion
from gough.checker.linear import NotProven
from gough.checker.manifest import Given, digest_of, summary_of
from gough.checker.raw_chains import RawChains, raw_chains
from gough.checker.raw_data import Half, NotDerived, RawTable, require_known, span_of, study_of, table_in
from gough.checker.raw_frames import RawFrames, RawPlacement
from gough.checker.raw_numbers import Span
from gough.core.outward import DEGREES, sides
from gough.core.text import counted, poses_counted_from

_TEXT = (".csv", ".tsv", ".txt")
_LEG = (
    "A leg goes from a on the base to b on the platform and is l long at reading zero. It fits a pose with position p "
    "and rotation R if |exp(ω) R b + p + δ − a| = l + reading + η for some errors δ, ω and η within the tolerances. "
    "Legs fit together if in each pose the same δ and ω serve all of them."
)
_ARMS = "P = motor, U = arm_at_0, V = arm_at_90, l = rod"
_TURNED = "p + R c − P − cos q U − sin q V"
_LETTERS = {"motor": "P", "arm_at_0": "U", "arm_at_90": "V"}
_ALSO = {"rotary-delta": " and the motor is on the arm's radius"}
_CHAIN = {
    "linear-delta": "|p + (0, 0, q) − P| = l with P = (tower_x, tower_y, carriage), l = arm",
    "rotary-delta": f"|p − P − cos q U − sin q V| = l with {_ARMS}",
    "h4": f"|{_TURNED}| = l with c = (joint_x, joint_y, 0), {_ARMS}",
    "par4": f"|{_TURNED}| = l with c = (joint_x, joint_y, 0), {_ARMS}",
    "3-rrr": "|p + R c − P − Q U| = l with c = joint, P = base, U = arm, Q being the turn by q, l = rod",
}

Columns = Callable[[Path], tuple[tuple[str, ...], Callable[[int], Any]]]
"""Heads of a binary file, and a function that loads a column by its place."""


class SourceText(NamedTuple):
    """A file of the user: its name, its content, and where it or its copy is."""

    name: str
    content: bytes
    path: Path

    @property
    def words(self) -> str:
        """Name, in quotes where it might be taken for other words, beginning of the digest, size."""
        name = self.name if re.fullmatch(r"[\w.-]+", self.name) else repr(self.name)
        return f"{name} ({digest_of(self.content)[:19]}…, {len(self.content)} bytes)"


class Source(NamedTuple):
    """What the user gave, and what the run adds to it."""

    study: SourceText
    poses: SourceText
    given: Given
    columns: Columns | None = None
    """Reads poses that are no text."""

    def raw(self, question: ChainQuestion, place: int = 0) -> RawChains:
        """What the sources state about the unknowns of a question; so many chains of the run stand before its own.

        Raises:
            NotDerived: the checker does not derive it.
            NotProven: they do not state it.
        """
        study, table = study_of(self.study.content), self._table()
        require_known(study)
        named = table_in(study, "poses").get("file")
        if not isinstance(named, str) or PurePosixPath(named.replace("\\", "/")).name != self.poses.name:
            raise NotProven(f"the study is about the poses {named!r:.60}, not {self.poses.name}")
        if "file" in table_in(study, "robot"):
            raise NotDerived("the robot is stated in another file ([robot] file)")
        if question.legs and table_in(study, "robot").get("family") != "gough":
            raise NotProven("the study is not about a Gough platform")
        return raw_chains(study, table, self.given, question.chains, place)

    def _table(self) -> RawTable:
        if self.poses.path.suffix.lower() in _TEXT:
            return RawTable.of_csv(self.poses.content)
        if self.columns is None:
            raise NotDerived(f"{self.poses.name} is no text")
        return RawTable(*self.columns(self.poses.path))

    def words(self, raw: RawChains) -> tuple[str, ...]:
        """What is stated, in sentences that need no other file to be understood."""
        poses = raw.poses
        turned = f", orientations as {poses.form}" if poses.form else ""
        left_out = (
            f" ({'a copy of a row is' if poses.copies == 1 else f'{poses.copies} copies of rows are'} left out)"
            if poses.copies
            else ""
        )
        how_many = f"{counted(len(poses), 'pose')}{left_out}, {poses_counted_from(poses.places)}"
        data = f"Data: {self.poses.words}, {how_many}{turned}; {self.study.words}."
        return (data, *_stated_words(raw))


def question_words(question: ChainQuestion) -> tuple[str, ...]:
    """What a question itself states, where nothing ties it to raw data: its doubles, rounded to nine digits."""
    prior = zip(question.names, question.prior.lower.tolist(), question.prior.upper.tolist(), strict=True)
    spans = [f"{name} in [{_thousandths(low)}, {_thousandths(high)}]" for name, low, high in prior]
    summary = summary_of(question)
    parts = []
    for what, (low, high) in summary["tolerances"].items():
        size = _thousandths(low) if low == high else f"{_thousandths(low)} … {_thousandths(high)}"
        parts.append(f"{what}s ± {size} m{summary['units'][what]}")
    lines = [
        f"Data: {counted(summary['poses'], 'pose')}, counted from 0.",
        f"Tolerances: {', '.join(parts)}.",
        f"Prior: {', '.join(spans)} mm. Tolerances and prior are rounded here to nine digits.",
    ]
    for chain, rod in zip(question.chains, question.rods, strict=False):
        if rod.conditions:
            lines.append(f"Conditions of chain {chain}: {_condition_words(rod.conditions, rod.names)}.")
    return tuple(lines)


def _thousandths(x: float) -> str:
    """A number in thousandths of its unit, to nine digits."""
    return f"{1000 * x:.9g}"


def _stated_words(raw: RawChains) -> list[str]:
    """Tolerances, prior and equation of some chains."""
    family, word = raw.family, "leg" if raw.family.is_gough else "chain"
    unit = "mm" if family.reading_unit == "m" else "mrad"
    each = [_one_for_all([row[i] for row in raw.half], 1000, unit) for i in range(len(raw.chains))]
    readings = ", ".join(f"{word} {chain} ± {half}" for chain, half in zip(raw.chains, each, strict=True))
    parts = [f"positions ± {_axes(raw.position, 'mm')} (x, y, z)"]
    if family.turns:
        vector = family.is_gough or raw.frames is not None
        what, how = ("orientations", " (left rotation vector)") if vector else ("headings", "")
        parts.append(f"{what} ± {_axes(raw.orientation, 'deg')}{how}")
    centers = [c for row in raw.center for c in row]
    reach = [r.span for r in raw.around * len(raw.chains)]
    lines = [f"Tolerances: {'; '.join(parts)}; readings: {readings}."]
    lines.append(_prior_words(list(zip(raw.names, centers, reach, strict=True)), raw.centers))
    if raw.gains:
        gains = ", ".join(f"leg {leg}: {g!r}" for leg, g in zip(raw.chains, raw.gains, strict=True))
        lines.append(f"Readings are multiplied by gains, taken as given ({gains}).")
    framed = [] if raw.frames is None else _frames_words(raw.frames, turns=family.turns)
    return [*lines, *framed, *([_LEG] if family.is_gough else _rod_words(raw))]


def _frames_words(frames: RawFrames, *, turns: bool) -> list[str]:
    """Where measured poses are from, and how they were moved into the robot's frame."""
    lines = [f"Frames: the base is, in the instrument's frame, {_placement_words(frames.base)}."]
    if turns:
        lines[0] += f" The platform is, in the target's frame, {_placement_words(frames.platform)}."
        pose = "p and R are position and heading of the platform, seen from the base, if the target"
        lines.append(f"{pose} is where the instrument measured it; the heading is that of the platform's x axis.")
    else:
        lines.append("p is the position of the target, as the instrument measured it, seen from the base.")
    lines[1] += " Tolerances of poses are along the instrument's axes."
    if frames.uncertain:
        lines[1] += " Errors of the frames are within their half-widths in each pose, and may differ from pose to pose."
    return lines


def _placement_words(placement: RawPlacement) -> str:
    place = ", ".join(_decimal(1000 * x.number) for x in placement.position)
    turned = ", ".join(map(_decimal, placement.quaternion))
    known = [
        f"{what} ± {_axes([halves], unit)}"
        for what, halves, unit in (
            ("position", placement.position_half, "mm"),
            ("orientation", placement.orientation_half, "deg"),
        )
        if any(half.number for half in halves)
    ]
    within = f" ({'; '.join(known)})" if known else " (taken as exact)"
    return f"at ({place}) mm with the quaternion, scalar first, ({turned}){within}"


def _rod_words(raw: RawChains) -> list[str]:
    """What it means that a chain over a rod fits."""
    family = raw.family
    pose = "position p and heading R" if family.turns else "position p"
    errors = "p, q and the heading" if family.turns else "p and q"
    shared = "p and the heading" if family.turns else "p"
    if raw.frames is not None:
        shared = "the measured pose and of the frames" if raw.frames.uncertain else "the measured pose"
        errors = f"{shared} and of q"
    fits = f"A chain of a {family.name} fits a pose with {pose} and the reading q if {_CHAIN[family.name]}"
    lines = [f"{fits}, for some errors of {errors} within the tolerances."]
    if len(raw.chains) > 1:
        lines[0] += f" Chains fit together if in each pose the same errors of {shared} serve all of them."
    if family.conditions:
        each = _condition_words(family.conditions, [_letter(name.removesuffix("_{}")) for name in family.unknowns])
        lines.append(f"Its conditions: the arm's axis is level{_ALSO.get(family.name, '')}, that is {each}.")
    return lines


def _letter(stem: str) -> str:
    """A component of a vector as the equation of a chain calls it: P_x for motor_x."""
    name, _, axis = stem.rpartition("_")
    return f"{_LETTERS[name]}_{axis}" if name in _LETTERS else stem


def _condition_words(conditions: Sequence[Any], names: Sequence[str]) -> str:
    """Quadratic conditions, each as an equation.

    Examples:
        >>> _condition_words([((0, 0, 1), (1, 2, -1)), ((0, 2, 0.5),)], ["x", "y", "z"])
        'x² − y z = 0, 0.5 x z = 0'
    """
    return ", ".join(f"{_sum_words(condition, names)} = 0" for condition in conditions)


def _sum_words(condition: Sequence[tuple[int, int, float]], names: Sequence[str]) -> str:
    text = ""
    for i, j, c in condition:
        sign = (" + " if c > 0 else " − ") if text else ("" if c > 0 else "−")
        size = "" if abs(c) == 1 else f"{float(abs(c))!r} "
        text += f"{sign}{size}{f'{names[i]}²' if i == j else f'{names[i]} {names[j]}'}"
    return text


def _prior_words(sides: Sequence[tuple[str, Span, Span]], centers: str) -> str:
    around: dict[str, list[str]] = {}
    for name, center, reach in sides:
        around.setdefault(_one_for_all([reach], 1000, "mm"), []).append(f"{name} {_near(center)}")
    shown = "; ".join(f"within ± {reach} of {', '.join(names)} mm" for reach, names in around.items())
    notes = [f"centers: {centers}"] if centers else []
    notes += ["≈: rounded to nine digits"] if "≈" in shown else []
    return f"Prior: {shown} ({'; '.join(notes)})." if notes else f"Prior: {shown}."


def _near(span: Span) -> str:
    """A length in mm to nine digits, and whether that is all of it: "= 223.1792" or "≈ -62.6278954"."""
    try:
        text = f"{float(500 * (span.low + span.high)):.9g}"
    except OverflowError:
        return "beyond 1e308"
    return f"{'=' if Fraction(text) == 1000 * span.low == 1000 * span.high else '≈'} {text}"


def _axes(halves: Sequence[Sequence[Half]], unit: str) -> str:
    """Half-widths by axis, the same for all poses, or their ranges."""
    columns = list(zip(*halves, strict=True))
    words = [_half(column, unit) for column in columns]
    if len(set(words)) == 1:
        return words[0]
    if not all(word.endswith(f" {unit}") for word in words):
        return ", ".join(words)
    return f"{', '.join(word.removesuffix(f' {unit}') for word in words)} {unit}"


def _half(column: Sequence[Half], unit: str) -> str:
    """One half-width without rounding where it can be written so, else its range rounded outward."""
    first = column[0]
    if not isinstance(first, Span) and all(each == first for each in column):
        if unit == "deg" and first.power == 0 and first.number:
            return f"{_decimal(first.number * 1000)} mrad"
        times = {"deg": Fraction(180)}.get(unit, Fraction(1000))
        if first.power == (unit == "deg") or not first.number:
            return f"{_decimal(first.number * times)} {unit}"
    return _one_for_all([span_of(each) for each in column], DEGREES if unit == "deg" else 1000, unit)


def _one_for_all(spans: Sequence[Span], times: Any, unit: str) -> str:
    low, high = min(x.low for x in spans), max(x.high for x in spans)
    if low == high and isinstance(times, int):
        return f"{_decimal(low * times)} {unit}"
    least, most = sides(low, high, times=times)
    return f"{least} … {most} {unit}"


def _decimal(x: Fraction) -> str:
    """All digits of a number where they end soon, else an interval that contains it."""
    for places in range(18):
        if (x * 10**places).denominator == 1:
            whole = abs(x.numerator * 10**places // x.denominator)
            digits = f"{whole:0{places + 1}d}"
            point = f"{digits[:-places]}.{digits[-places:]}" if places else digits
            return f"{'-' if x < 0 else ''}{point}"
    low, high = sides(x, x)
    return f"({low} … {high})"
