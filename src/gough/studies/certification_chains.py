"""The certification of a delta, H4, Par4 or planar 3-RRR that a study asks for, chain by chain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import process_time

import numpy as np

from gough.checker import ChainCertificate, ChainQuestion, NotProven, chain_certificate, chain_question, check_chain
from gough.checker.chain_files import equations_name, render_chain
from gough.checker.manifest import BLUEPRINT, CALIBRATED, Given, Question
from gough.checker.of_chain import chain_witness, empty_chain
from gough.checker.raw import Raw, require_for_raw
from gough.closure import QuadraticChain, Tolerances, certified_chain, chain_parameters, quadratic_unknowns
from gough.closure.chain_tolerance import best_chain, exact_unknowns, lower_end, needed_by, needs, reading_error
from gough.core.arrays import Array
from gough.core.errors import GoughError, InputError, require
from gough.core.intervals import Interval
from gough.data import Poses
from gough.dynamics import Step
from gough.estimates import LiftedStats, Status
from gough.evidence import LiftedTree
from gough.methods import LiftedHull
from gough.region import Box
from gough.report.certification.results import Bracket, CertificateFile, Certification, Finding, LegFinding
from gough.robots import GoughPlatform, KinematicModel
from gough.studies.calibration import CalibrationStudy
from gough.studies.certification import (
    ROUNDING,
    OnStep,
    center_of,
    certified,
    derived,
    named,
    outer,
    outer_box,
    pose_tolerance,
    reading_tolerance,
    source_of,
    within,
)
from gough.studies.certification_schema import ModelErrorTable

_SLACKS = (0.0, 1e-12, 1e-11, 1e-10, 1e-9)
"""What is added, in the unit of readings, to what an exhibited chain needs until the exact check agrees."""
_NOT_HERE = (
    "Not examined: all chains together with shared errors of poses, and which poses are wrong. Both are proven for "
    "legs of Gough platforms only."
)


@dataclass(frozen=True, eq=False)
class Chains:
    """What is to be certified: measurements with half-widths, and robots around which chains are sought."""

    model: KinematicModel
    poses: Poses
    position: Array
    """(N, 3)."""
    heading: Array
    """(N,)."""
    readings: Array
    """(N, chains)."""
    center: Array
    calibrated: Array | None
    around: float

    def prior(self, chain: int) -> Box:
        """Where a chain is sought."""
        center = quadratic_unknowns(self.model, self.center, chain)
        box = outer_box(center, np.full(len(center), self.around))
        return Box(np.append(box.lower[:-1], max(box.lower[-1], 0.0)), box.upper)

    def problem(self, chain: int, more: float = 0.0) -> QuadraticChain:
        """One chain, its readings being off by up to `more` than stated."""
        half = np.nextafter(np.maximum(self.readings[:, chain - 1] + more, 0.0), np.inf)
        tolerances = Tolerances(self.position, half if more else self.readings[:, chain - 1], self.heading)
        return _widened(certified_chain(self.model, self.poses, chain, self.prior(chain), tolerances), self.poses)

    def question(self, chain: int) -> ChainQuestion:
        """What certificates about a chain speak about."""
        reading, unit = reading_error(self.model), self.model.reading_unit
        return chain_question(self.problem(chain), chain, reading=reading, reading_unit=unit)

    def given(self, where: str, chains: Sequence[int]) -> Given:
        """The centers of the priors of some chains, as numbers that no source states."""
        centers = [quadratic_unknowns(self.model, self.center, chain).tolist() for chain in chains]
        return Given(where, tuple(map(tuple, centers)))


def _widened(problem: QuadraticChain, poses: Poses) -> QuadraticChain:
    """The chain with p, A and B wide enough for what was rounded when decimals became positions and angles."""
    most = 1 + abs(poses.readings).max()
    near, far = (Interval(-ROUNDING * size, ROUNDING * size) for size in (most, most + abs(poses.position).max()))

    def wider(values: Interval) -> Interval:
        inexact = (values.mid != np.round(values.mid)).astype(float)  # zeros and ones are exact
        return values + near * Interval(inexact)

    return replace(problem, p=problem.p + far, A=wider(problem.A), B=wider(problem.B))


def certified_robot(study: CalibrationStudy, on_step: OnStep = lambda _: None) -> Certification:
    """The proofs that a study asks for, about legs of a Gough platform or chains of another robot.

    Raises:
        InputError: the study cannot be certified; with the line.
    """
    with study.at("printer"):
        printed = study.table.printer is not None
        require(not printed, "gough certify needs measured poses: heights that a printer probed are not enough")
    found = (certified if isinstance(study.model, GoughPlatform) else certified_chains)(study, on_step)
    return replace(found, premises=(*study.premises, *found.premises))


def certified_chains(study: CalibrationStudy, on_step: OnStep = lambda _: None) -> Certification:
    """The proofs about each chain, with certificates, checked.

    Raises:
        InputError: the study asks for what is not there for such robots; with the line.
    """
    asked, notes = chains_asked(study)
    table, model = study.table.certify, asked.model
    with study.at("certify", "legs"):
        numbers = named(table.legs, len(model.chains), "chain")
    found, questions, premises = [], dict[str, Question](), list[str]()
    where = CALIBRATED if center_of(study) == "calibrated" else BLUEPRINT
    source = source_of(study, asked.given(where, numbers))
    for k, chain in enumerate(numbers):
        on_step(Step(k + 1, len(numbers), f"certifying chain {chain}"))
        with study.at("certify"):
            question = asked.question(chain)
            stated = derived(study, question, source, k)
            premises, notes = [*premises, *stated.premises], (*notes, *stated.notes)
            found.append(_finding(asked, _Notary(question, stated.raw), table.width))
        questions[equations_name(chain)] = question
    return Certification(
        poses=len(asked.poses),
        around=f"{within([asked.around])} of {where}",
        legs=tuple(found),
        joint=None,
        notes=(*asked.poses.notes, *dict.fromkeys(notes), _NOT_HERE),
        questions=questions,
        source=source,
        premises=tuple(dict.fromkeys(premises)),
        part="chain",
        reading_unit=model.reading_unit,
        robot=model.name,
    )


def chains_asked(study: CalibrationStudy) -> tuple[Chains, tuple[str, ...]]:
    """Measurements with half-widths and where chains are sought, as a study states them; and what there is to say.

    Raises:
        InputError: the study asks for what is not there for such robots; with the line.
    """
    table, model = study.table.certify, study.model
    with study.at("certify", "outliers"):
        require(not table.outliers, "wrong poses are named for legs of Gough platforms only: leave out outliers")
    with study.at("certify", "joint_box"):
        require(not table.joint_box, "a joint box is found for legs of Gough platforms only: leave it out")
    with study.at("certify", "model_error"):
        plain = table.model_error == ModelErrorTable()
        require(plain, "model errors are added for legs of Gough platforms only: state wider readings instead")
    with study.at("calibration", "frames"):
        own = study.table.calibration.frames == "robot"
        require(own, f"chains of a {model.name} are certified in the robot's own frame: give the poses in it")
    poses = study.poses()
    with study.at("certify", "around"):
        require(len(table.around) == 1, f"state one length: how far unknowns of a {model.name} are sought")
    with study.at("certify"):
        turns = model.has_orientation
        require(turns or table.orientation is None, f"a {model.name} does not turn: leave out orientation")
        position = pose_tolerance(poses, slice(0, 3), table.position, table.sigmas)
        heading = np.zeros(len(poses))
        if turns:
            require(poses.rotation is not None, f"a {model.name} turns, but no headings were measured")
            heading = pose_tolerance(poses, slice(3, 6), table.orientation, table.sigmas)[:, 2]
        half = np.broadcast_to(reading_tolerance(table, poses, model), poses.readings.shape)
        center, calibrated, notes = _centers(study, model)
    position, heading, half = (outer(x, np.zeros(1)) for x in (position, heading, half))
    return Chains(model, poses, position, heading, half, center, calibrated, table.around[0]), notes


def _centers(study: CalibrationStudy, model: KinematicModel) -> tuple[Array, Array | None, tuple[str, ...]]:
    """Where chains are sought, the calibrated robot, and what there is to say."""
    wanted = center_of(study)
    try:
        found = study.calibrate()
    except InputError:
        raise
    except GoughError as error:
        require(wanted == "blueprint", f"no calibration to search around: {error}")
        return model.nominal, None, (f"Least squares find no calibration: {str(error).splitlines()[0]}",)
    if found.scale != 1:
        require(wanted == "blueprint", "a calibration with a scale cannot be the center: state center = 'blueprint'")
        words = f"Positions are taken as measured; the calibration's scale of {found.scale:.6f} is not applied."
        return model.nominal, None, (words,)
    return (found.parameters if wanted == "calibrated" else model.nominal), found.parameters, ()


class _Notary:
    """Makes certificates about one chain and checks each; where raw data are known, it holds about them too."""

    def __init__(self, question: ChainQuestion, raw: Raw | None) -> None:
        self.question, self._raw = question, raw
        self.files: list[CertificateFile] = []

    def file(self, name: str, make: Callable[[], ChainCertificate]) -> CertificateFile | None:
        """The certificate, checked; none where the evidence falls short in exact numbers."""
        try:
            certificate = make()
            if self._raw is not None:
                require_for_raw(certificate, self.question, self._raw)
        except NotProven:
            return None
        began = process_time()
        verdict = check_chain(certificate, self.question)
        took, text = process_time() - began, render_chain(certificate)
        chain = f"chain-{self.question.chain}-{name}.json"
        self.files.append(CertificateFile(chain, text, verdict.statement, verdict.holds, took, certificate.more))
        return self.files[-1]


def _finding(asked: Chains, notary: _Notary, width: float) -> LegFinding:
    """What is proven about one chain."""
    question, chain = notary.question, notary.question.chain
    model, problem, reading = asked.model, asked.problem(chain), question.reading
    began = process_time()
    answer = LiftedHull().estimate(problem)
    took = process_time() - began
    assert isinstance(answer.stats, LiftedStats)
    tree, empty = LiftedTree(answer.stats.stages), answer.status is Status.INCONSISTENT
    make = empty_chain if empty else chain_certificate
    refuted = notary.file("empty" if empty else "box", lambda: make(question, tree)) is not None and empty
    began = process_time()
    theta = _best(asked, problem, chain, reading)
    point = quadratic_unknowns(model, theta, chain)
    more = needed_by(problem, point, reading)
    upper = _exhibited(asked, notary, theta, more)
    lower, poses = -np.inf, tuple[int, ...]()
    if upper > 0 and np.isfinite(upper):
        end = lower_end(lambda e: asked.problem(chain, e), upper, width)
        if end is not None and notary.file("epsilon-lower", lambda: empty_chain(question, end.tree, end.epsilon)):
            lower, poses = end.epsilon, end.poses
    refuted = refuted or lower >= 0
    both = needs(problem, point, reading)
    return LegFinding(
        leg=chain,
        finding=Finding.REFUTED if refuted else Finding.FITS if upper <= 0 else Finding.OPEN,
        names=problem.names,
        center=quadratic_unknowns(model, asked.center, chain),
        box=None if empty else answer.region.hull(),
        steps=answer.stats.steps,
        seconds=took,
        epsilon=Bracket(lower, upper, process_time() - began),
        least_squares=_least_squares(asked, problem, chain, reading),
        needs=np.maximum(both[: problem.n_poses], both[problem.n_poses :]),
        blame=poses[:5],
        without=None,
        files=tuple(notary.files),
        parameters=() if empty else _parameters(model, chain, answer.region.hull()),
        prior=problem.prior,
    )


def _best(asked: Chains, problem: QuadraticChain, chain: int, reading: int) -> Array:
    """The robot whose chain needs least, sought from the calibrated one and from the center."""
    starts = [asked.center] if asked.calibrated is None else [asked.calibrated, asked.center]
    found = [best_chain(asked.model, problem, chain, reading, start) for start in starts]
    return min(found, key=lambda pair: pair[1])[0]


def _exhibited(asked: Chains, notary: _Notary, theta: Array, more: float) -> float:
    """What readings must be off by more for this chain to fit, with its certificate; ∞ where it cannot be shown."""
    if not np.isfinite(more):
        return np.inf
    question = notary.question
    values = exact_unknowns(asked.model, theta, question.chain)
    for slack in _SLACKS:
        least = float(max(more, 0.0) + slack)
        name = "fits" if least == 0 else "epsilon-upper"
        if notary.file(name, lambda e=least: chain_witness(question, values, e)):  # type: ignore[misc]
            return least  # also where the chain fits with less: no certificate proves that
    return np.inf


def _least_squares(asked: Chains, problem: QuadraticChain, chain: int, reading: int) -> float | None:
    """What readings must be off by more for the calibrated chain to fit; None where there is none in the prior."""
    if asked.calibrated is None:
        return None
    x = quadratic_unknowns(asked.model, asked.calibrated, chain)
    needed = needed_by(problem, x, reading) if x in problem.prior else np.inf
    return needed if np.isfinite(needed) else None


def _parameters(model: KinematicModel, chain: int, box: Box) -> tuple[tuple[str, str, float, float], ...]:
    """Name, unit and sides of the robot's own parameters."""
    own, columns = chain_parameters(model, chain, box), model.columns[chain - 1]
    if own.is_empty:
        return ()
    names, units = ([words[k] for k in columns] for words in (model.names, model.units))
    return tuple(zip(names, units, own.lower.tolist(), own.upper.tolist(), strict=True))
