"""What is proven about a delta printer: the smallest error of its probed heights with which some geometry fits."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gough.answers import Answer
from gough.checker.linear import NotProven
from gough.closure.certified_probes import HeightTolerance, ProbedHeights, height_tolerance
from gough.closure.findings import Bracket
from gough.closure.height_certificates import HeightCertificates, height_certificates
from gough.core.arrays import ArrayValue
from gough.core.errors import InputError, require
from gough.core.tables import Table, table
from gough.core.text import counted
from gough.geometry.printers import CalibratedPrinter

CERTIFIED = (
    "Certificates state both ends about the decimals of the configuration; gough check verifies them in exact rational "
    "arithmetic."
)
UPPER_CERTIFIED = (
    "A certificate states the upper end about the decimals of the configuration; gough check verifies it in exact "
    "rational arithmetic. A lower end of 0 needs none: a smaller width may raise it."
)
ONE_CERTIFIED = (
    "The certificate of the {end} end is missing: that end is proven in interval arithmetic in this run only."
)
NOT_CERTIFIED = "Both ends are proven in interval arithmetic in this run, without certificate files: {reason}."


@dataclass(frozen=True, eq=False)
class CertifiedPrinter(Answer, ArrayValue):
    """The bracket of the smallest ε by which heights must be allowed to be wrong, proven at both ends."""

    calibrated: CalibratedPrinter
    bracket: HeightTolerance
    around: float
    """m: half the width of the box around the calibrated geometry in which none is better."""
    tolerance: float | None = None
    """m: what heights may be wrong by, as stated; None where nothing is stated."""
    certificates: HeightCertificates | None = None
    """Certificates of the ends; None where the heights were not read from files, or cannot be read exactly."""
    not_certified: str = "the heights were not read from a file"
    """Why there are none, as a clause."""

    @property
    def model(self) -> Any:
        """The printer."""
        return self.calibrated.model

    @property
    def names(self) -> tuple[str, ...]:
        """The only quantity."""
        return ("epsilon",)

    def __getitem__(self, name: str) -> float:
        require(name == "epsilon", f"the only quantity is 'epsilon', not '{name}'")
        return self.bracket.upper

    def interval(self, name: str, level: float | None = None) -> Any:  # noqa: ARG002 - as of other answers
        """The proven bracket."""
        from gough.region import Interval  # noqa: PLC0415 - start-up time

        require(name == "epsilon", f"the only quantity is 'epsilon', not '{name}'")
        return Interval(self.bracket.lower, self.bracket.upper)

    @property
    def refuted(self) -> bool:
        """Whether no geometry of the box explains the heights within the stated tolerance: proven."""
        return self.tolerance is not None and self.bracket.lower > self.tolerance

    def headlines(self) -> tuple[str, ...]:
        """The bracket in words."""
        many = counted(len(self.calibrated.probes.heights), "height")
        words = (
            f"{many} of {self.calibrated.probes.source}: ε = {self._epsilon} mm. A geometry explains them all if each "
            f"may be wrong by the upper end; with less than the lower end, none {self._box} does. Both are proven."
        )
        return (words,)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Whether the stated tolerance suffices, and what was not considered."""
        words = []
        if self.tolerance is not None:
            stated = f"± {1e3 * self.tolerance:g} mm"
            fits = self.bracket.upper <= self.tolerance
            words.append(
                f"Refuted: heights within {stated} do not fit any geometry {self._box}: proven."
                if self.refuted
                else f"Fits: {stated} suffices."
                if fits
                else f"Not decided: {stated} is between the ends of the bracket."
            )
        if len(self.calibrated.probes.distances):
            words.append(
                "Measured distances were not used: the statement is about the heights, with arms as configured."
            )
        return (*words, self._certified)

    @property
    def _certified(self) -> str:
        """Which ends have a certificate."""
        if self.certificates is None:
            return NOT_CERTIFIED.format(reason=self.not_certified)
        has = {
            "lower": self.certificates.lower is not None or not self.bracket.lower,
            "upper": self.certificates.upper is not None,
        }
        missing = [end for end, there in has.items() if not there]
        complete = CERTIFIED if self.bracket.lower else UPPER_CERTIFIED
        return " ".join(ONE_CERTIFIED.format(end=end) for end in missing) or complete

    @property
    def _box(self) -> str:
        return f"whose towers and carriages are within ± {1e3 * self.around:g} mm of the calibrated ones"

    @property
    def _epsilon(self) -> str:
        return Bracket(self.bracket.lower, self.bracket.upper, 0.0).words

    def remarks(self) -> tuple[str, ...]:
        """The verdicts."""
        return self.verdicts

    def table(self) -> Table:
        """The bracket."""
        largest = f"{1e3 * float(abs(self.calibrated.residuals_after).max()):.4g}"
        return table(["ε, mm", "least squares leave, mm"], [[self._epsilon, largest]], "rr", "Smallest tolerance")

    def __str__(self) -> str:
        return "\n".join([*self.headlines(), *self.verdicts, "", str(self.table())])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units; ends as doubles that are proven."""
        return {
            "model": self.model.name,
            "source": self.calibrated.probes.source,
            "heights": len(self.calibrated.probes.heights),
            "epsilon": {"lower": self.bracket.lower, "upper": self.bracket.upper},
            "around": self.around,
            "tolerance": self.tolerance,
            "refuted": self.refuted,
            "parameters": dict(zip(self.model.names, self.bracket.parameters.tolist(), strict=True)),
            "verdicts": list(self.verdicts),
        }


def certify_printer(
    calibrated: CalibratedPrinter,
    *,
    around: float = 1e-3,
    width: float = 1e-6,
    tolerance: float | None = None,
    files: Mapping[str, bytes] | None = None,
) -> CertifiedPrinter:
    """Prove by how much probed heights must be wrong at least, and that a geometry explains them with little more.

    Args:
        calibrated: The printer, calibrated from its heights.
        around: Half the width of the box of geometries, m.
        width: Width of the bracket at which the search ends, m.
        tolerance: What heights may be wrong by, if it is known, m.
        files: printer.cfg, from which the heights were read, and what it includes, by path relative to its folder:
            certificates are about these.
    """
    require(width > 0 and around > 0, "around and width must be positive lengths in m")
    if tolerance is not None and not tolerance > 0:
        raise InputError(f"the tolerance of heights must be positive, but is {tolerance:g} m")
    problem = ProbedHeights(calibrated.probes, calibrated.parameters, around, 0.0)
    bracket = height_tolerance(problem, width=width)
    answer = CertifiedPrinter(calibrated, bracket, around, tolerance)
    if files is None:
        return answer
    try:
        certificates = height_certificates(problem, bracket, files)
    except NotProven as error:
        return replace(answer, not_certified=f"the checker cannot read the configuration exactly ({error})")
    # ends are those of the certificates, which may differ from the method's in the last digits
    lower = bracket.lower if certificates.lower is None else certificates.lower.proof.epsilon
    upper = bracket.upper if certificates.upper is None else certificates.upper.proof.epsilon
    return replace(answer, bracket=replace(bracket, lower=lower, upper=upper), certificates=certificates)
