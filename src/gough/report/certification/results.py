"""What a certification found: a verdict for each leg and for all together, brackets, boxes, and certificate files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

import gough
from gough.checker.manifest import Question
from gough.checker.raw import Source
from gough.checker.words import summary
from gough.core import outward
from gough.core.arrays import Array, ArrayValue
from gough.core.text import table
from gough.region import Box

_NAMES_SHOWN = 12
_FINE = {"mm": "µm", "mrad": "µrad"}


class Finding(Enum):
    """What is proven; the value says it in a word or two."""

    FITS = "fits"
    REFUTED = "refuted"
    OPEN = "not decided"


@dataclass(frozen=True)
class CertificateFile:
    """A certificate, what it states, and how its check went."""

    name: str
    """Of the file, in the folder `certificates`."""
    text: str
    statement: tuple[str, ...]
    holds: bool
    seconds: float
    """Processor time of the exact check."""
    more: float = 0.0
    """By how much more than stated it lets readings be off, m."""

    @property
    def words(self) -> str:
        """The beginning of what it states, which says whether it is a box or a verdict."""
        return summary(self.statement)

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.text.encode())


def bracket_words(lower: float, upper: float) -> str:
    """A bracket of ε in thousandths of its unit, rounded outward; "≤ 0" where none is needed.

    Examples:
        >>> bracket_words(0.00012304, 0.00012401), bracket_words(-np.inf, 0.00012401), bracket_words(-np.inf, -2e-5)
        ('0.123039 … 0.124011', '≤ 0.1241', '≤ 0')
    """
    return "≤ 0" if upper <= 0 else outward.between(lower, upper, times=1000)


@dataclass(frozen=True, eq=False)
class Bracket(ArrayValue):
    """lower ≤ ε ≤ upper, m, each end with its certificate; −∞ where a lower end was not sought or not proven."""

    lower: float
    upper: float
    seconds: float
    boxes: int = 1

    @property
    def words(self) -> str:
        """In mm, rounded outward; only the upper end where there is no other."""
        return bracket_words(self.lower, self.upper)

    @property
    def width(self) -> str:
        """In µm, rounded up, where both ends are sought."""
        if self.upper <= 0 or not np.isfinite(self.lower):
            return "—"
        return outward.at_most(Fraction(self.upper) - Fraction(self.lower), times=10**6, digits=3)


@dataclass(frozen=True, eq=False)
class WithoutPoses(ArrayValue):
    """What is proven if some poses may be wrong."""

    q: int
    at_least: int
    """Every leg of the prior misses at least so many; 0 where no number is certified."""
    named: tuple[int, ...]
    """Every leg of the prior that misses at most q poses misses these."""
    left_out: tuple[int, ...]
    """Leaving these out helps most."""
    bracket: Bracket

    @property
    def words(self) -> str:
        """In sentences, each with its conditions. A refuted leg misses a pose also where no number is certified."""
        if not self.at_least:
            return "how many poses must be wrong is not proven."
        count = poses_counted(self.at_least)
        says = [f"every leg of the prior misses at least {count}, with errors within the tolerances: proven."]
        if self.at_least > self.q:
            are = "is" if self.at_least == 1 else "are"
            says.append(f"{_IF_RIGHT}, at least {count} {are} wrong: raise outliers above {self.q} to name them.")
        elif self.named:
            rest = f"at most {poses_counted(self.q)} {'is' if self.q == 1 else 'are'} wrong"
            says.append(f"{_IF_RIGHT} and {rest}, {poses_listed(self.named)} must be: proven.")
        else:
            says.append("Which pose it is, is not proven.")
        if self.left_out:
            says.append(f"Without {poses_listed(self.left_out)}: ε {self.bracket.words} mm.")
        return " ".join(says)


_IF_RIGHT = "If the prior, the tolerances and the model are right"


def poses_counted(count: int) -> str:
    """A number of poses in words."""
    return "1 pose" if count == 1 else f"{count} poses"


def poses_listed(numbers: Sequence[int]) -> str:
    """Poses by their numbers."""
    return f"pose{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


Sides: TypeAlias = tuple[bool, bool]
"""Something about the lower and the upper side of an interval."""


def sides_as_prior(names: Sequence[str], box: Box | None, prior: Box | None) -> dict[str, Sides]:
    """Of each unknown, whether the lower and the upper side of a box are those of the prior: not narrowed."""
    if box is None or prior is None:
        return dict.fromkeys(names, (False, False))
    same = zip((box.lower <= prior.lower).tolist(), (box.upper >= prior.upper).tolist(), strict=True)
    return dict(zip(names, same, strict=True))


@dataclass(frozen=True, eq=False)
class LegFinding(ArrayValue):
    """One leg."""

    leg: int
    finding: Finding
    names: tuple[str, ...]
    center: Array
    box: Box | None
    """Where every consistent leg is; None where there is none."""
    steps: int
    seconds: float
    """Processor time of the box, or of its refutation."""
    epsilon: Bracket
    least_squares: float | None
    """What readings must be off by beyond their tolerance for the calibrated leg to fit, m; None: not calibrated."""
    needs: Array
    """The same for the best leg at each pose (N,), m; if poses may be wrong, for the best one without them."""
    blame: tuple[int, ...]
    """Poses that forbid a smaller ε, heaviest first."""
    without: WithoutPoses | None
    files: tuple[CertificateFile, ...]
    parameters: tuple[tuple[str, str, float, float], ...] = ()
    """Of a chain: names, units and sides of the robot's own parameters over its box."""
    prior: Box | None = None
    """Where it was sought."""

    @property
    def needed_by_least_squares(self) -> str:
        """`least_squares` in thousandths, rounded up."""
        return "—" if self.least_squares is None else outward.at_most(self.least_squares, times=1000, digits=3)

    @property
    def as_prior(self) -> dict[str, Sides]:
        """Of each unknown, whether the lower and the upper side of its box equal the prior's."""
        return sides_as_prior(self.names, self.box, self.prior)

    @property
    def widest(self) -> str:
        """The widest side of the box in mm, rounded up; "as the prior" where the data do not narrow that one."""
        if self.box is None:
            return "—"
        sides = zip(self.box.lower.tolist(), self.box.upper.tolist(), strict=True)
        widths = dict(zip(self.names, (Fraction(high) - Fraction(low) for low, high in sides), strict=True))
        most = max(widths, key=lambda name: widths[name])
        return "as the prior" if all(self.as_prior[most]) else outward.at_most(widths[most], times=1000, digits=3)


@dataclass(frozen=True, eq=False)
class JointFinding(ArrayValue):
    """All legs together."""

    finding: Finding
    epsilon: Bracket
    box: Box | None
    files: tuple[CertificateFile, ...]
    left_out: tuple[int, ...] = ()
    """Wrong poses, without which it was tried again."""
    needed: float = np.inf
    """What readings must be off by beyond their tolerance for all legs to fit without those, m."""
    lower_of: int | None = None
    """The leg whose certificate proves the lower end of ε; None where it is a certificate of all together."""
    own_lower: float = -np.inf
    """The lower end of ε that a certificate of all together proves, m."""


@dataclass(frozen=True, eq=False)
class Certification(ArrayValue):
    """What a study's certification found. `str()` of it is the account for a terminal."""

    poses: int
    around: str
    """The prior in words: "within ± 5 mm of the blueprint"."""
    legs: tuple[LegFinding, ...]
    joint: JointFinding | None
    notes: tuple[str, ...]
    questions: Mapping[str, Question]
    """What the certificates speak about, by the name of its file: measurements of legs, or equations of each chain."""
    source: Source
    """The user's files, and numbers that they do not state."""
    premises: tuple[str, ...]
    """What all statements are about, in sentences: data, tolerances, prior."""
    part: str = "leg"
    """What a finding is about: a leg of a Gough platform, or a chain of another robot."""
    reading_unit: str = "m"
    """Of readings, and so of ε and of needs."""
    robot: str = ""
    """Family of a robot that is certified by chains."""

    @property
    def tolerances(self) -> tuple[str, ...]:
        """Half-widths in words, as stated."""
        return tuple(line for line in self.premises if line.startswith("Tolerances: "))

    @property
    def unit(self) -> str:
        """A thousandth of the unit of readings."""
        return "mm" if self.reading_unit == "m" else "mrad"

    @property
    def sought(self) -> str:
        """Poses and prior, in words."""
        what = f"unknowns of {self.part}s" if self.part == "chain" else f"{self.part}s"
        robot = f" of a {self.robot}" if self.robot else ""
        return f"{self.poses} poses{robot}; {what} sought {self.around}."

    def worded(self, text: str) -> str:
        """A text about legs, with the word for what this is about."""
        for word in (str, str.capitalize):
            text = text.replace(word("leg"), word(self.part))
        return text

    @property
    def refuted(self) -> bool:
        """Is it proven that no robot of this kind fits the measurements within their intervals?"""
        joint = self.joint is not None and self.joint.finding is Finding.REFUTED
        return joint or any(leg.finding is Finding.REFUTED for leg in self.legs)

    @property
    def files(self) -> Iterator[CertificateFile]:
        """All certificates."""
        for each in (*self.legs, *(() if self.joint is None else (self.joint,))):
            yield from each.files

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What is proven, in sentences with their conditions."""
        by = {finding: [leg.leg for leg in self.legs if leg.finding is finding] for finding in Finding}
        says = []
        if by[Finding.REFUTED]:
            none = f"This {self.part}" if len(by[Finding.REFUTED]) == 1 else f"Each of these {self.part}s"
            says.append(
                f"Refuted: {self._listed(by[Finding.REFUTED])}. {none} misses at least one pose, for all values "
                f"{self.around} and all errors within the tolerances: proven. So a pose, a tolerance, the model or the "
                "prior is wrong."
            )
        if by[Finding.FITS]:
            says.append(
                f"Fits: {self._listed(by[Finding.FITS])}. Values {self.around} and errors within the tolerances that "
                f"satisfy all poses are exhibited, for each {self.part} by itself."
            )
        if by[Finding.OPEN]:
            says.append(
                f"Not decided: {self._listed(by[Finding.OPEN])}. Neither a refutation nor values that fit were found. "
                "A smaller prior may decide it."
            )
        says += _on_joint(self.joint, alone=bool(by[Finding.REFUTED]), fits=len(by[Finding.FITS]) == len(self.legs))
        says += _on_joint_lower(self.joint)
        says += _on_joint_without(self.joint)
        by_words: dict[str, list[int]] = {}
        for leg in self.legs:
            if leg.without is not None:
                by_words.setdefault(leg.without.words, []).append(leg.leg)
        says += [f"{self._listed(legs).capitalize()}: {words}" for words, legs in by_words.items()]
        says += self._disagreement()
        spoilt = [file.name for file in self.files if not file.holds]
        if spoilt:
            says.append(f"These certificates do not hold: {', '.join(spoilt)}.")
        return tuple(says)

    def _disagreement(self) -> list[str]:
        """Legs that name more poses between them than may be wrong: their common condition is false."""
        without = {leg.leg: leg.without for leg in self.legs if leg.without is not None}
        named = {leg: each for leg, each in without.items() if each.named and each.at_least <= each.q}
        poses = sorted({pose for each in named.values() for pose in each.named})
        q = max((each.q for each in named.values()), default=0)
        if len(poses) <= q:
            return []
        listed = self._listed(list(named)).capitalize()
        return [
            (
                f"{listed} name different poses, {len(poses)} in all: these conditions cannot all hold. More than "
                f"{poses_counted(q)} {'is' if q == 1 else 'are'} wrong, or the prior excludes the robot, or a "
                "tolerance or the model is wrong: proven. The poses named may be right."
            )
        ]

    def _listed(self, numbers: list[int]) -> str:
        return f"{self.part}{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"

    @property
    def unnarrowed(self) -> tuple[str, ...]:
        """On sides of boxes that only repeat the prior, in a sentence."""
        unknowns = {name: both for leg in self.legs for name, both in leg.as_prior.items() if any(both)}
        if not unknowns:
            return ()
        count = sum(map(sum, unknowns.values()))
        total = sum(2 * len(leg.names) for leg in self.legs if leg.box is not None)
        names = ", ".join([*unknowns][:_NAMES_SHOWN]) + (", …" if len(unknowns) > _NAMES_SHOWN else "")
        words = f"{count} of {total} sides of boxes are as the prior: the data do not narrow them ({names})."
        return (f"{words} State a larger around to see whether the data bound these unknowns.",)

    @property
    def _legend(self) -> str:
        """What the columns of the terminal's table are."""
        words = (
            "ε: the least by which the tolerance of every reading must grow for some leg of the prior to fit; "
            "both ends are proven, and ≤ 0 means that the stated tolerances suffice. Bracket: width of the interval of "
            "ε. Calibrated: what the least-squares solution needs; — where there is none in the prior. Box: its widest "
            "side; the report lists all sides. A box holds all legs of the prior that fit, each by itself."
        )
        return self.worded(words)

    def __str__(self) -> str:
        heads = [
            self.part,
            "verdict",
            f"ε, {self.unit}",
            f"bracket, {_FINE[self.unit]}",
            f"calibrated, {self.unit}",
            "box, mm",
            "time, s",
        ]
        rows = [
            [
                str(leg.leg),
                leg.finding.value,
                leg.epsilon.words,
                leg.epsilon.width,
                leg.needed_by_least_squares,
                leg.widest,
                f"{leg.seconds + leg.epsilon.seconds:.2f}",
            ]
            for leg in self.legs
        ]
        if self.joint is not None:
            e = self.joint.epsilon
            rows.append(["all", self.joint.finding.value, e.words, e.width, "", "", f"{e.seconds:.2f}"])
        files = list(self.files)
        kept = f"{len(files)} certificates, {sum(f.size for f in files) / 1e3:.0f} kB, checked in "
        checked = f"{sum(f.seconds for f in files):.1f} s of exact arithmetic."
        account = [self.sought, *self.tolerances, "", table(heads, rows, "llrrrrr"), self._legend, ""]
        return "\n".join([*account, *self.verdicts, *self.unnarrowed, *self.notes, kept + checked])

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        legs = [
            {
                self.part: leg.leg,
                "finding": leg.finding.value,
                "box": _box(leg.box, leg.names),
                "sides_as_prior": {name: list(both) for name, both in leg.as_prior.items() if any(both)},
                "epsilon": _bracket(leg.epsilon),
                "least_squares_epsilon": leg.least_squares,
                "poses_to_blame": list(leg.blame),
                "without_poses": None if leg.without is None else _without(leg.without),
                "seconds": leg.seconds + leg.epsilon.seconds,
                "certificates": [_file(file) for file in leg.files],
            }
            | ({"parameters": {name: [low, high] for name, _, low, high in leg.parameters}} if leg.parameters else {})
            for leg in self.legs
        ]
        names = tuple(name for leg in self.legs for name in leg.names)
        joint: dict[str, Any] | None = None
        if self.joint is not None:
            joint = {"finding": self.joint.finding.value, "epsilon": _bracket(self.joint.epsilon)}
            joint |= {"box": _box(self.joint.box, names), "certificates": [_file(file) for file in self.joint.files]}
            joint |= {"lower_of_leg": self.joint.lower_of, "own_lower": _finite(self.joint.own_lower)}
            joint |= {"left_out": list(self.joint.left_out), "epsilon_without": _finite(self.joint.needed)}
        head = {"written_by": f"gough {gough.__version__}", "poses": self.poses, "refuted": self.refuted}
        words = {"verdicts": list(self.verdicts), "notes": list(self.notes), "around": self.around}
        words["premises"] = list(self.premises)
        return {**head, **words, "tolerances": list(self.tolerances), f"{self.part}s": legs, "joint": joint}

    def to_json(self) -> str:
        """As text; lengths in m."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)


def _on_joint(joint: JointFinding | None, *, alone: bool, fits: bool) -> list[str]:
    if joint is None:
        return []
    if joint.finding is Finding.FITS:
        return [
            (
                "All legs fit together: legs of the prior, with one error of each pose for all of them and all errors "
                "within the tolerances, are exhibited."
            )
        ]
    if joint.finding is Finding.OPEN:
        return ["Whether all legs fit together is not decided."]
    if alone:
        return ["Together the legs are refuted too, since one of them is."]
    though = "each fits" if fits else "none is refuted"
    return [
        (
            f"Together the legs are refuted, though {though} by itself: no legs of the prior fit all poses with one "
            "error of each pose for all of them, within the tolerances: proven. Backlash and a wrong scale look like "
            "this; so do a wrong pose, tolerances stated too small, or a prior that excludes the robot."
        )
    ]


def _on_joint_lower(joint: JointFinding | None) -> list[str]:
    """Where the lower end of ε of all legs comes from, if not from a certificate about all of them."""
    if joint is None or joint.lower_of is None or joint.epsilon.upper <= 0:
        return []
    file = f"leg-{joint.lower_of}-epsilon-lower.json"
    own = "There is no certificate of a lower end about all legs together."
    if np.isfinite(joint.own_lower):
        less = outward.at_least(joint.own_lower, times=1000)
        own = f"The certificate about all legs of the prior together, joint-epsilon-lower.json, proves {less} mm."
    words = "The lower end of ε of all legs together, with this prior and these tolerances,"
    return [f"{words} is that of leg {joint.lower_of}, proven by {file}: what one leg needs, all need. {own}"]


def _on_joint_without(joint: JointFinding | None) -> list[str]:
    if joint is None or not joint.left_out:
        return []
    without = f"Without {poses_listed(joint.left_out)} all legs fit together"
    if joint.needed <= 0:
        return [f"{without}: legs of the prior and errors within the tolerances are exhibited."]
    more = outward.at_most(joint.needed, times=1000)
    return [f"{without} if every reading may be off by {more} mm more than stated: legs of the prior are exhibited."]


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


def _bracket(e: Bracket) -> dict[str, Any]:
    return {"lower": _finite(e.lower), "upper": _finite(e.upper), "seconds": e.seconds, "boxes": e.boxes}


def _box(box: Box | None, names: tuple[str, ...]) -> dict[str, list[float]] | None:
    if box is None:
        return None
    sides = zip(names, box.lower.tolist(), box.upper.tolist(), strict=True)
    return {name: [low, high] for name, low, high in sides}


def _without(w: WithoutPoses) -> dict[str, Any]:
    poses = {"q": w.q, "at_least": w.at_least, "named": list(w.named), "left_out": list(w.left_out)}
    return {**poses, "epsilon": _bracket(w.bracket)}


def _file(file: CertificateFile) -> dict[str, Any]:
    about = {"file": f"certificates/{file.name}", "bytes": file.size, "holds": file.holds}
    return {**about, "check_seconds": file.seconds, "states": list(file.statement)}
