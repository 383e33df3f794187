"""The answer of a certification: a verdict for each chain and for all together, brackets of ε, boxes, certificates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

import gough
from gough.answers import Answer
from gough.checker.chain_questions import ChainQuestion
from gough.checker.raw import Source
from gough.checker.words import summary
from gough.core import outward
from gough.core.arrays import Array, ArrayValue
from gough.core.codec import finite_or_none
from gough.core.errors import AssumptionError, InputError, nearest, require
from gough.core.tables import Column, Table, table
from gough.core.text import counted, pose_label, poses_listed
from gough.region import Box, Interval

_NAMES_SHOWN = 12
_FINE = {"mm": "µm", "mrad": "µrad"}


class Finding(Enum):
    """What is proven; the value says it in a word or two."""

    FITS = "fits"
    REFUTED = "refuted"
    OPEN = "not decided"


@dataclass(frozen=True)
class CertificateFile:
    """A certificate, what it states, and the result of its check."""

    name: str
    """Name of the file in the folder `certificates`."""
    text: str
    statement: tuple[str, ...]
    holds: bool
    seconds: float
    """Processor time of the exact check."""
    more: float = 0.0
    """By how much the tolerances of readings are widened in it, in the unit of readings."""
    box: Box | None = None
    """What it proves of the unknowns, rounded outward; None where it states no box."""

    @property
    def words(self) -> str:
        """The beginning of the statement, which says whether it is a box or a verdict."""
        return summary(self.statement)

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.text.encode())


def bracket_words(lower: float, upper: float) -> str:
    """A bracket of ε in thousandths of its unit, rounded outward; "≤ 0" where the stated tolerances suffice.

    Examples:
        >>> bracket_words(0.00012304, 0.00012401), bracket_words(-np.inf, 0.00012401), bracket_words(-np.inf, -2e-5)
        ('0.123039 … 0.124011', '≤ 0.1241', '≤ 0')
        >>> bracket_words(0.00012304, np.inf), bracket_words(-np.inf, np.inf)
        ('≥ 0.1230', 'not known')

        A lower end above 0 is not printed as 0, however far below the upper one:

        >>> bracket_words(7.15e-9, 4.785e-5)
        '7.1e-06 … 0.0479'
    """
    if upper == np.inf:
        return "not known" if lower == -np.inf else f"≥ {outward.at_least(lower, times=1000)}"
    if upper <= 0:
        return "≤ 0"
    return outward.between(lower, upper, times=1000)


@dataclass(frozen=True, eq=False)
class Bracket(ArrayValue):
    """lower ≤ ε ≤ upper in the unit of readings, each end with its certificate; −∞: no lower end was proven."""

    lower: float
    upper: float
    seconds: float
    boxes: int = 1

    @property
    def words(self) -> str:
        """The bracket in thousandths of the unit, rounded outward; only the upper end where there is no other."""
        return bracket_words(self.lower, self.upper)

    @property
    def width(self) -> str:
        """The width in millionths of the unit, rounded up, where both ends are proven."""
        if self.upper <= 0 or not np.isfinite((self.lower, self.upper)).all():
            return "—"
        return outward.at_most(Fraction(self.upper) - Fraction(self.lower), times=10**6, digits=3)


class Statement(NamedTuple):
    """A verdict in sentences with their conditions, and what to do next."""

    text: str
    kind: Literal["good", "bad", "plain"]
    next: str


@dataclass(frozen=True, eq=False)
class WithoutPoses(ArrayValue):
    """What is proven about one chain if some poses may be wrong."""

    q: int
    at_least: int
    """Every chain of the prior misses at least so many poses; 0 where no number is certified."""
    named: tuple[int, ...]
    """Every chain of the prior that misses at most q poses misses these."""
    left_out: tuple[int, ...]
    """Leaving these poses out reduces ε most."""
    bracket: Bracket

    def words(self, part: str = "leg", unit: str = "mm", places: Sequence[str] = ()) -> str:
        """The statements with their conditions. A refuted chain misses a pose also where no number is certified."""
        if not self.at_least:
            return "how many poses must be wrong is not proven."
        count = counted(self.at_least, "pose")
        lines = [f"every {part} of the prior misses at least {count}, with errors within the tolerances: proven."]
        if self.at_least > self.q:
            are = "is" if self.at_least == 1 else "are"
            lines.append(f"{_IF_RIGHT}, at least {count} {are} wrong: raise outliers above {self.q} to name them.")
        elif self.named:
            rest = f"at most {counted(self.q, 'pose')} {'is' if self.q == 1 else 'are'} wrong"
            lines.append(f"{_IF_RIGHT} and {rest}, {poses_listed(self.named, places)} must be: proven.")
        else:
            lines.append("Which pose is wrong is not proven.")
        if self.left_out:
            lines.append(f"Without {poses_listed(self.left_out, places)}: ε {self.bracket.words} {unit}.")
        return " ".join(lines)

    @property
    def next(self) -> str:
        """What to do next."""
        if not self.at_least:
            return "Raise outliers, or state a smaller prior (around), and certify again."
        if self.at_least > self.q:
            return f"Set outliers = {self.at_least} or more to have wrong poses named, and certify again."
        if self.named:
            return "Measure the poses that must be wrong again, or leave them out, and certify again."
        return "Measure again the poses that determine ε (the report lists them), and certify again."


_SMALLER = "State a smaller prior (around), and certify again."
_AS_ABOVE = "As for"
_IF_RIGHT = "If the prior, the tolerances and the model are right"


Sides: TypeAlias = tuple[bool, bool]
"""A property of the lower and of the upper side of an interval."""


def sides_as_prior(names: Sequence[str], box: Box | None, prior: Box | None) -> dict[str, Sides]:
    """For each unknown, whether the lower and the upper side of a box are those of the prior: not narrowed."""
    if box is None or prior is None:
        return dict.fromkeys(names, (False, False))
    same = zip((box.lower <= prior.lower).tolist(), (box.upper >= prior.upper).tolist(), strict=True)
    return dict(zip(names, same, strict=True))


def widest_side(names: Sequence[str], box: Box | None, prior: Box | None) -> str:
    """The widest side of a box in mm, rounded up; "as the prior" where the data do not narrow that one."""
    if box is None:
        return "—"
    sides = zip(box.lower.tolist(), box.upper.tolist(), strict=True)
    widths = dict(zip(names, (Fraction(high) - Fraction(low) for low, high in sides), strict=True))
    most, same = max(widths, key=lambda name: widths[name]), sides_as_prior(names, box, prior)
    return "as the prior" if all(same[most]) else outward.at_most(widths[most], times=1000, digits=3)


@dataclass(frozen=True)
class ParameterRange:
    """The range of one of the robot's own parameters over a box of a chain's unknowns."""

    name: str
    unit: str
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class ChainFinding(ArrayValue):
    """The verdict about one chain, its box and its bracket of ε."""

    chain: int
    finding: Finding
    names: tuple[str, ...]
    center: Array
    """The middle of the prior."""
    box: Box | None
    """Every consistent chain of the prior lies in it; None where there is none."""
    steps: int
    seconds: float
    """Processor time of the box, or of its refutation."""
    epsilon: Bracket
    least_squares: float | None
    """What readings must be off by beyond their tolerance for the calibrated chain to fit; None: not calibrated."""
    needs: Array
    """The same for the best chain at each pose (N,); if poses may be wrong, for the best one without them."""
    blame: tuple[int, ...]
    """Poses that forbid a smaller ε, heaviest first."""
    without: WithoutPoses | None
    files: tuple[CertificateFile, ...]
    parameters: tuple[ParameterRange, ...] = ()
    """The robot's own parameters over the box, where they are not the unknowns themselves."""
    prior: Box | None = None
    """Where the chain was sought."""
    fitted: int | None = None
    """Poses at which the calibrated chain fits; None: not calibrated."""

    @property
    def needed_by_least_squares(self) -> str:
        """`least_squares` in thousandths, rounded up."""
        return "—" if self.least_squares is None else outward.at_most(self.least_squares, times=1000, digits=3)

    @property
    def as_prior(self) -> dict[str, Sides]:
        """For each unknown, whether the lower and the upper side of its box equal the prior's."""
        return sides_as_prior(self.names, self.box, self.prior)

    @property
    def widest(self) -> str:
        """The widest side of the box in mm, rounded up; "as the prior" where the data do not narrow that one."""
        return widest_side(self.names, self.box, self.prior)

    @property
    def intervals(self) -> dict[str, Interval]:
        """The box by the names of unknowns and of the robot's own parameters; empty where no chain is consistent."""
        if self.box is None:
            return {}
        sides = zip(self.names, self.box.lower.tolist(), self.box.upper.tolist(), strict=True)
        own = {each.name: Interval(each.lower, each.upper) for each in self.parameters}
        return {**own, **{name: Interval(low, high) for name, low, high in sides}}


@dataclass(frozen=True, eq=False)
class JointFinding(ArrayValue):
    """The verdict about all chains together, whose equations share the errors of poses."""

    finding: Finding
    epsilon: Bracket
    box: Box | None
    files: tuple[CertificateFile, ...]
    left_out: tuple[int, ...] = ()
    """Poses that are proven wrong; the chains were fitted again without them."""
    needed: float = np.inf
    """What readings must be off by beyond their tolerance for all chains to fit without those poses."""
    lower_of: int | None = None
    """The chain whose certificate proves the lower end of ε; None where it is a certificate about all together."""
    own_lower: float = -np.inf
    """The lower end of ε that a certificate about all together proves."""


@dataclass(frozen=True, eq=False)
class Certification(Answer, ArrayValue):
    """The answer of `certify`: what is proven about each chain of a robot, and about all together.

    `answer["l1"]` and `answer.interval("l1")` are the middle and the sides of an unknown's guaranteed interval, which
    holds every consistent value within the prior; robots other than Gough platforms are asked by the names of their own
    parameters too. JSON keeps the account, and an answer is not restored from it, since a file is no proof: keep the
    certificates, which `gough.check` checks again.
    """

    poses: int
    around: str
    """The prior in words: "within ± 5 mm of the blueprint"."""
    chains: tuple[ChainFinding, ...]
    joint: JointFinding | None
    notes: tuple[str, ...]
    questions: Mapping[str, ChainQuestion]
    """What the certificates are about, by the name of its file."""
    source: Source | None
    """The user's files and numbers that they do not state; None where the poses were not read from files."""
    premises: tuple[str, ...]
    """What all statements are about, in sentences: data, tolerances, prior."""
    part: str = "leg"
    """The word for a chain of this robot: "leg" for a Gough platform, "chain" for others."""
    reading_unit: str = "m"
    """The unit of readings, and so of ε and of needs."""
    robot: str = ""
    """Name of the robot's family."""
    places: tuple[str, ...] = ()
    """Where each pose was found, such as "line 9" of its file."""
    n_chains: int = 0
    """Number of chains that the robot has."""

    @property
    def names(self) -> tuple[str, ...]:
        """The unknowns of all chains that were certified, and the robot's own parameters that follow from them."""
        return tuple(dict.fromkeys(name for chain in self.chains for name in (*chain.names, *chain.intervals)))

    def __getitem__(self, name: str) -> float:
        """The middle of an unknown's guaranteed interval."""
        interval = self.interval(name)
        return interval.lower + (interval.upper - interval.lower) / 2

    def interval(self, name: str, level: float | None = None) -> Interval:
        """The interval that contains all values of an unknown with which its chain, by itself, fits all poses.

        For a parameter that several chains share, such as a radius, it is the intersection of their intervals.

        Raises:
            InputError: no chain that was certified has such an unknown, or `level` is given: a proof has none.
            AssumptionError: its chain is refuted, or its chains have no common value.
        """
        require(level is None, "a guaranteed interval has no confidence level: leave level out")
        for chain in self.chains:
            if name in chain.names and chain.box is None:
                part = f"{self.part} {chain.chain}"
                raise AssumptionError(f"'{name}' has no interval: no value of {part} in the prior fits")
        intervals = [chain.intervals[name] for chain in self.chains if name in chain.intervals]
        if not intervals:
            refuted = any(chain.box is None for chain in self.chains)
            note = f"; parameters of a {self.part} that no value fits have no interval" if refuted else ""
            raise InputError(f"no unknown with an interval is called '{name}'{nearest(name, self.names)}{note}")
        common = Interval(max(each.lower for each in intervals), min(each.upper for each in intervals))
        if common.is_empty:
            raise AssumptionError(f"'{name}' has no interval: no value fits all {self.part}s that share it")
        return common

    @property
    def not_stated(self) -> tuple[str, ...]:
        """Dimensions that the study leaves to the library, in a sentence."""
        return tuple(line for line in self.premises if line.startswith("Not stated in "))

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
        what = "unknowns of chains" if self.part == "chain" else f"{self.part}s"
        robot = f" of a {self.robot}" if self.robot else ""
        return f"{counted(self.poses, 'pose')}{robot}; {what} sought {self.around}."

    @property
    def refuted(self) -> bool:
        """Is it proven that no robot of this kind fits the measurements within their intervals?"""
        joint = self.joint is not None and self.joint.finding is Finding.REFUTED
        return joint or any(chain.finding is Finding.REFUTED for chain in self.chains)

    @property
    def files(self) -> tuple[CertificateFile, ...]:
        """All certificates; `gough.check(file, answer)` checks one again, and `gough.check(answer)` all."""
        parts = (*self.chains, *(() if self.joint is None else (self.joint,)))
        return tuple(file for each in parts for file in each.files)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What is proven, in sentences with their conditions."""
        return tuple(statement.text for statement in self.statements)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What is proven, in sentences with their conditions, each with what to do next."""
        by = {finding: [chain.chain for chain in self.chains if chain.finding is finding] for finding in Finding}
        made = [self._on_chains(finding, numbers) for finding, numbers in by.items() if numbers]
        made += self._on_joint(alone=bool(by[Finding.REFUTED]), fits=len(by[Finding.FITS]) == len(self.chains))
        by_words: dict[Statement, list[int]] = {}
        for chain in self.chains:
            if chain.without is not None:
                words = chain.without.words(self.part, self.unit, self.places)
                by_words.setdefault(Statement(words, "bad", chain.without.next), []).append(chain.chain)
        made += [
            each._replace(text=f"{self._listed(numbers).capitalize()}: {each.text}")
            for each, numbers in by_words.items()
        ]
        made += self._disagreement()
        failed = [file.name for file in self.files if not file.holds]
        if failed:
            words = f"These certificates do not hold: {', '.join(failed)}."
            made.append(Statement(words, "bad", "Do not use these results, and report this as an error of gough."))
        return tuple(made)

    def _on_chains(self, finding: Finding, numbers: list[int]) -> Statement:
        """The verdict about chains by themselves."""
        listed, part = self._listed(numbers), self.part
        if finding is Finding.REFUTED:
            none = f"This {part}" if len(numbers) == 1 else f"Each of these {part}s"
            words = (
                f"Refuted: {listed}. {none} misses at least one pose, for all values {self.around} and all errors "
                "within the tolerances: proven. So a pose, a tolerance, the model or the prior is wrong."
            )
            return Statement(words, "bad", self._after_refutation)
        if finding is Finding.FITS:
            words = (
                f"Fits: {listed}. Values {self.around} and errors within the tolerances that satisfy all poses are "
                f"exhibited, for each {part} by itself."
            )
            step = "Use the boxes as guaranteed bounds (the report lists them); they hold as far as the tolerances do."
            return Statement(words, "good", step)
        words = f"Not decided: {listed}. Neither a refutation nor values that fit were found."
        return Statement(words, "plain", _SMALLER)

    @property
    def _after_refutation(self) -> str:
        """What to do next where a chain is refuted."""
        rest = "then a larger prior (around) or wider tolerances, where they are justified"
        if any(chain.without is not None and chain.without.named for chain in self.chains):
            return f"Measure again the poses that are named below, or leave them out; {rest}."
        if any(chain.without is not None for chain in self.chains):
            return f"Compare ε with the errors of the readings, and follow what is said of wrong poses below; {rest}."
        return f"Set outliers = 1 to have a wrong pose named, and compare ε with the errors of the readings; {rest}."

    def _disagreement(self) -> list[Statement]:
        """Chains that name more poses between them than may be wrong: their common condition is false."""
        without = {chain.chain: chain.without for chain in self.chains if chain.without is not None}
        named = {chain: each for chain, each in without.items() if each.named and each.at_least <= each.q}
        poses = sorted({pose for each in named.values() for pose in each.named})
        q = max((each.q for each in named.values()), default=0)
        if len(poses) <= q:
            return []
        listed = self._listed(list(named)).capitalize()
        words = (
            f"{listed} name different poses, {len(poses)} in all: these conditions cannot all hold. More than "
            f"{counted(q, 'pose')} {'is' if q == 1 else 'are'} wrong, or the prior excludes the robot, or a "
            "tolerance or the model is wrong: proven. The poses named may be right."
        )
        step = f"Set outliers = {len(poses)}, or state a larger prior (around), and certify again."
        return [Statement(words, "bad", step)]

    def _on_joint(self, *, alone: bool, fits: bool) -> list[Statement]:
        """The verdict about chains together, the certificate of its lower end of ε, and the fit without poses."""
        joint, part = self.joint, self.part
        if joint is None:
            return []
        if joint.finding is Finding.FITS:
            words = (
                f"{self._all.capitalize()} fit together: {part}s of the prior, with one error of each pose for all of "
                "them and all errors within the tolerances, are exhibited."
            )
            verdict = Statement(words, "good", "None: with the stated tolerances the data do not reject the model.")
        elif joint.finding is Finding.OPEN:
            verdict = Statement(f"Whether {self._all} fit together is not decided.", "plain", _SMALLER)
        elif alone:
            words = f"Together {self._all} are refuted too, since one of them is."
            verdict = Statement(words, "bad", f"{_AS_ABOVE} the {part}s that are refuted by themselves.")
        else:
            words = (
                f"Together {self._all} are refuted, though {'each fits' if fits else 'none is refuted'} by itself: no "
                f"{part}s of the prior fit all poses with one error of each pose for all of them, within the "
                "tolerances: proven. Backlash and a wrong scale have this effect; so do a wrong pose, tolerances "
                "stated too small, or a prior that excludes the robot."
            )
            verdict = Statement(words, "bad", "Test for backlash and a wrong scale; then check the tolerances.")
        return [verdict, *self._on_joint_lower(joint), *self._on_joint_without(joint)]

    def _on_joint_lower(self, joint: JointFinding) -> list[Statement]:
        if joint.lower_of is None or joint.epsilon.upper <= 0:
            return []
        part = self.part
        own = f"There is no certificate of a lower end about {self._all} together."
        if np.isfinite(joint.own_lower):
            less = f"{outward.at_least(joint.own_lower, times=1000)} {self.unit}"
            own = f"The certificate about {self._all} together, joint-epsilon-lower.json, proves {less}."
        words = (
            f"The lower end of ε of {self._all} together, with this prior and these tolerances, is that of {part} "
            f"{joint.lower_of}, proven by {part}-{joint.lower_of}-epsilon-lower.json: what one {part} needs, all "
            f"need. {own}"
        )
        return [Statement(words, "plain", "None: this names the certificate to check.")]

    def _on_joint_without(self, joint: JointFinding) -> list[Statement]:
        if not joint.left_out:
            return []
        part, step = self.part, "Leave these poses out, or measure them again, and certify again."
        without = f"Without {poses_listed(joint.left_out, self.places)} {self._all} fit together"
        if joint.needed <= 0:
            words = f"{without}: {part}s of the prior and errors within the tolerances are exhibited."
            return [Statement(words, "plain", step)]
        more = f"{outward.at_most(joint.needed, times=1000)} {self.unit}"
        words = f"{without} if every reading may be off by {more} more than stated: {part}s of the prior are exhibited."
        return [Statement(words, "plain", step)]

    @property
    def together(self) -> str:
        """What the joint verdict is about: "all legs together", or "legs 2, 5 together" where others were left out."""
        return f"{self._all} together"

    @property
    def _all(self) -> str:
        """The chains that were examined together: "all legs", or their numbers where others were left out."""
        return f"all {self.part}s" if len(self.chains) == self.n_chains else self._listed(self._numbers)

    @property
    def _numbers(self) -> list[int]:
        return [chain.chain for chain in self.chains]

    def _listed(self, numbers: list[int]) -> str:
        return f"{self.part}{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"

    @property
    def unnarrowed(self) -> tuple[str, ...]:
        """A sentence on sides of boxes that only repeat the prior; none where there are none."""
        unknowns = {name: both for chain in self.chains for name, both in chain.as_prior.items() if any(both)}
        if not unknowns:
            return ()
        count = sum(map(sum, unknowns.values()))
        total = sum(2 * len(chain.names) for chain in self.chains if chain.box is not None)
        names = ", ".join([*unknowns][:_NAMES_SHOWN]) + (", …" if len(unknowns) > _NAMES_SHOWN else "")
        words = f"{count} of {total} sides of boxes are as the prior: the data do not narrow them ({names})."
        return (f"{words} State a larger around to see whether the data bound these unknowns.",)

    @property
    def joint_prior(self) -> Box | None:
        """The priors of all chains together; None where one is not known."""
        priors = [chain.prior for chain in self.chains if chain.prior is not None]
        if len(priors) < len(self.chains):
            return None
        return Box(np.concatenate([each.lower for each in priors]), np.concatenate([each.upper for each in priors]))

    @property
    def _legend(self) -> str:
        """What the columns of the table are."""
        part = self.part
        return (
            f"ε: the least by which the tolerance of every reading must grow for some {part} of the prior to fit; "
            "both ends are proven, and ≤ 0 means that the stated tolerances suffice. Bracket: width of the interval of "
            "ε. Calibrated: what the least-squares solution needs; — where none was given, or none is in the prior. "
            f"Box: its widest side; the report lists all sides. A box holds all {part}s of the prior that fit, each by "
            "itself; that of the last row, all that fit together."
        )

    def table(self) -> Table:
        """Verdict, ε and the widest side of the box of each chain, and of all together."""
        heads: list[str | Column] = [
            self.part,
            "verdict",
            Column("ε", unit=self.unit),
            Column("bracket", unit=_FINE[self.unit]),
            Column("calibrated", unit=self.unit),
            Column("box", unit="mm"),
            Column("time", unit="s"),
            Column("poses that determine ε", "words", is_detail=True),
        ]
        rows = [
            [
                str(chain.chain),
                chain.finding.value,
                chain.epsilon.words,
                chain.epsilon.width,
                chain.needed_by_least_squares,
                chain.widest,
                f"{chain.seconds + chain.epsilon.seconds:.2f}",
                ", ".join(pose_label(pose, self.places) for pose in chain.blame[:3]) or "—",
            ]
            for chain in self.chains
        ]
        if self.joint is not None:
            e, box = self.joint.epsilon, self.joint.box
            label = "all" if len(self.chains) == self.n_chains else "together"
            names = [name for chain in self.chains for name in chain.names]
            widest = "" if box is None else widest_side(names, box, self.joint_prior)
            rows.append([label, self.joint.finding.value, e.words, e.width, "", widest, f"{e.seconds:.2f}", ""])
        return table(heads, rows, "llrrrrr.", f"The smallest tolerance of each {self.part}")

    def headlines(self) -> tuple[str, ...]:
        """What the study leaves to the library; poses, prior and tolerances."""
        return (*self.not_stated, self.sought, *self.tolerances)

    def remarks(self) -> tuple[str, ...]:
        """What is proven, what to do next, sides that only repeat the prior, and notes."""
        step = (f"Next: {self.next}",) if self.next else ()
        return (*self.verdicts, *step, *self.unnarrowed, *self.notes)

    @property
    def next(self) -> str:
        """What to do next where something is refuted or not decided: the step of the most specific verdict."""
        steps = [each.next for each in self.statements if each.kind == "bad" and not each.next.startswith(_AS_ABOVE)]
        judged = (*self.chains, *(() if self.joint is None else (self.joint,)))
        is_open = any(each.finding is Finding.OPEN for each in judged)
        return steps[-1] if steps else _SMALLER if is_open else ""

    def __str__(self) -> str:
        files = self.files
        kept = f"{len(files)} certificates, {sum(f.size for f in files) / 1e3:.0f} kB, checked in "
        checked = f"{sum(f.seconds for f in files):.1f} s of exact arithmetic."
        account = [*self.headlines(), "", str(self.table()), self._legend, ""]
        return "\n".join([*account, *self.remarks(), kept + checked])

    def to_dict(self) -> dict[str, Any]:
        """Verdicts, boxes and brackets as plain data, in SI units: what certification.json of a report holds."""
        chains = [
            {
                "chain": chain.chain,
                "finding": chain.finding.value,
                "box": _box(chain.box, chain.names),
                "sides_as_prior": {name: list(both) for name, both in chain.as_prior.items() if any(both)},
                "epsilon": _bracket(chain.epsilon),
                "least_squares_epsilon": chain.least_squares,
                "least_squares_poses_fitted": chain.fitted,
                "poses_to_blame": list(chain.blame),
                "without_poses": None if chain.without is None else _without(chain.without),
                "seconds": chain.seconds + chain.epsilon.seconds,
                "certificates": [_file(file) for file in chain.files],
            }
            | ({"parameters": {e.name: [e.lower, e.upper] for e in chain.parameters}} if chain.parameters else {})
            for chain in self.chains
        ]
        names = tuple(name for chain in self.chains for name in chain.names)
        joint: dict[str, Any] | None = None
        if self.joint is not None:
            joint = {"finding": self.joint.finding.value, "epsilon": _bracket(self.joint.epsilon)}
            joint |= {"box": _box(self.joint.box, names), "certificates": [_file(file) for file in self.joint.files]}
            joint |= {"lower_of_chain": self.joint.lower_of, "own_lower": finite_or_none(self.joint.own_lower)}
            joint |= {"left_out": list(self.joint.left_out), "epsilon_without": finite_or_none(self.joint.needed)}
        head = {"written_by": f"gough {gough.__version__}", "robot": self.robot, "poses": self.poses}
        words = {"refuted": self.refuted, "verdicts": list(self.verdicts), "notes": list(self.notes)}
        words |= {"around": self.around, "premises": list(self.premises), "tolerances": list(self.tolerances)}
        return {**head, **words, "chains": chains, "joint": joint}


def _bracket(e: Bracket) -> dict[str, Any]:
    return {"lower": finite_or_none(e.lower), "upper": finite_or_none(e.upper), "seconds": e.seconds, "boxes": e.boxes}


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
