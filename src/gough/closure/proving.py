"""Findings about one chain and about all together: each proof becomes a certificate, which is checked at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np

from gough.checker import (
    ChainCertificate,
    ChainQuestion,
    NotProven,
    chain_certificate,
    check_chains,
    empty_certificate,
    outlier_certificate,
    witness_certificate,
)
from gough.checker.chain_files import render_chains
from gough.checker.raw_chains import RawChains
from gough.checker.raw_containment import require_exhibited
from gough.closure.certified_chain import chain_parameters, quadratic_unknowns
from gough.closure.chain_problem import ChainProblem
from gough.closure.findings import (
    Bracket,
    CertificateFile,
    ChainFinding,
    Finding,
    JointFinding,
    ParameterRange,
    WithoutPoses,
)
from gough.closure.fits import ROOM, best_together, excess, exhibited, exhibited_together, needed_by, needs
from gough.closure.joint import JointProblem
from gough.closure.joint_hull import JointHull
from gough.closure.outliers import relaxed_tolerance, wrong_poses
from gough.closure.quadratic_chain import QuadraticChain
from gough.closure.tolerance import joint_tolerance, minimal_tolerance
from gough.core.arrays import Array
from gough.estimates import Estimate, LiftedStats, Status
from gough.evidence import LiftedTree
from gough.methods.nonlinear.lifted import LiftedHull
from gough.region import Box
from gough.robots import KinematicModel

_SLACKS = (0.0, 1e-14, 1e-13, 1e-12, 1e-11)
"""Metres that are added to what a witness needs until it also fits what the raw data state."""
_ROD_SLACKS = (0.0, 1e-12, 1e-11, 1e-10, 1e-9)
"""The same for chains, in the unit of readings, until the exact check agrees."""


class Notary:
    """Makes certificates about one question and checks each; what cannot be certified gives none.

    Where the raw data are known, each certificate must hold about what they state too.
    """

    def __init__(self, question: ChainQuestion, raw: RawChains | None) -> None:
        self.question, self._raw = question, raw
        middle = (question.prior.lower + question.prior.upper) / 2
        inside = (question.prior.upper - middle) * (1 - 2**-32) - abs(middle) * 2**-40
        self._inner = Box.around(middle, np.maximum(inside, 0.0))
        """Within the stated prior."""

    def file(self, name: str, make: Callable[[], ChainCertificate]) -> CertificateFile | None:
        """The certificate, checked; none where the evidence falls short in exact numbers."""
        try:
            certificate = make()
            if self._raw is not None:
                require_exhibited(certificate, self.question, self._raw)
        except NotProven:
            return None
        began = process_time()
        verdict, text = check_chains(certificate, self.question), render_chains(certificate)
        took = process_time() - began
        return CertificateFile(f"{name}.json", text, verdict.statement, verdict.holds, took, certificate.more)

    def empty(self, name: str, tree: LiftedTree, legs: Sequence[int] = (), more: float = 0.0) -> CertificateFile | None:
        """A certificate that nothing fits."""
        return self.file(name, lambda: empty_certificate(self.question, tree, legs, more))

    def answer(self, name: str, problem: Any, answer: Estimate) -> CertificateFile | None:
        """A certificate of the box of a hull, or of emptiness."""
        assert isinstance(answer.stats, LiftedStats)
        tree = LiftedTree(answer.stats.stages)
        chains = problem.chains if isinstance(problem, JointProblem) else (problem.chain,)
        make = empty_certificate if answer.status is Status.INCONSISTENT else chain_certificate
        return self.file(name, lambda: make(self.question, tree, chains))

    def witness(
        self,
        names: tuple[str, str],
        values: Array,
        errors: tuple[Array, Array],
        *,
        legs: Sequence[int] = (),
        left_out: Sequence[int] = (),
        more: float = 0.0,
    ) -> CertificateFile | None:
        """A certificate that these legs fit with these errors of poses, readings being widened by about `more`.

        The first name is for a witness with the tolerances as stated, the second for one that needs more; none is made
        where that name is empty.
        """
        chosen = legs or self.question.chains
        place = np.concatenate([7 * self.question.chains.index(leg) + np.arange(7) for leg in chosen])
        inside = np.clip(values, self._inner.lower[place], self._inner.upper[place])
        for slack in _SLACKS:
            total = max(more, 0.0) + slack
            name = names[total > 0]
            file = name and self.file(
                name,
                lambda e=total: witness_certificate(  # type: ignore[misc]
                    self.question, inside.tolist(), np.hstack(errors).tolist(), left_out=left_out, chains=legs, more=e
                ),
            )
            if file and (file.more == 0) == (total == 0):
                return file
        return None

    def outliers(self, name: str, trees: Sequence[LiftedTree], leg: int, **states: Any) -> CertificateFile | None:
        """A certificate that so many poses are wrong."""
        return self.file(name, lambda: outlier_certificate(self.question, trees, chains=(leg,), **states))


Files = list[CertificateFile | None]


def leg_finding(
    problem: ChainProblem, center: Array, calibrated: Array | None, notary: Notary, *, outliers: int, width: float
) -> tuple[ChainFinding, Array]:
    """What is proven about one leg, and the leg of the prior that needs least."""
    leg, began = problem.chain, process_time()
    tolerance = minimal_tolerance(problem, width=width)
    sought = process_time() - began
    answer, took = _hull(problem)
    files: Files = []
    empty = answer.status is Status.INCONSISTENT
    files.append(notary.answer(f"leg-{leg}-{'empty' if empty else 'box'}", problem, answer))
    refuted = empty and files[0] is not None
    upper, fits = _upper(problem, tolerance.point, notary, files, f"leg-{leg}")
    lower = -np.inf
    if upper > 0 and tolerance.tree is not None:
        proof = notary.empty(f"leg-{leg}-epsilon-lower", tolerance.tree, (leg,), tolerance.lower)
        files.append(proof)
        lower = tolerance.lower if proof else lower
    refuted = refuted or lower >= 0
    off, fitted = (None, None) if calibrated is None else _least_squares(problem, calibrated, notary, files)
    without, best = None, tolerance.point
    if refuted and outliers:
        without, best = _without(problem, notary, files, outliers, width)
    assert isinstance(answer.stats, LiftedStats)
    each = needs(problem, best)
    finding = ChainFinding(
        chain=leg,
        finding=Finding.REFUTED if refuted else Finding.FITS if fits else Finding.OPEN,
        names=problem.unknowns.names,
        center=center,
        box=None if empty else answer.region.hull(),
        steps=answer.stats.steps,
        seconds=took,
        epsilon=Bracket(lower, upper, sought, max(tolerance.boxes, 1)),
        least_squares=off,
        fitted=fitted,
        needs=np.maximum(each[: problem.n_rows], each[problem.n_rows :]),
        blame=tuple(pose for pose, _ in tolerance.poses[:5]),
        without=without,
        files=tuple(file for file in files if file is not None),
        prior=problem.prior,
    )
    return finding, tolerance.point


def _hull(problem: ChainProblem) -> tuple[Estimate, float]:
    """The box of one chain, and the processor time it took."""
    began = process_time()
    answer = LiftedHull().estimate(problem)
    return answer, process_time() - began


def _upper(problem: ChainProblem, point: Array, notary: Notary, files: Files, name: str) -> tuple[float, bool]:
    """An ε with which a leg fits, exhibited; and whether it fits with the tolerances as stated."""
    exhibit = exhibited(problem, point)
    names = (f"{name}-fits", f"{name}-epsilon-upper")
    file = notary.witness(names, point, (exhibit.move, exhibit.turn), legs=(problem.chain,), more=exhibit.needed)
    files.append(file)
    return proven_upper(file, exhibit.needed), file is not None and file.more == 0


def proven_upper(file: CertificateFile | None, needed: float) -> float:
    """The upper end of ε that a witness proves: what it needs, or what its certificate widens readings by."""
    if file is None:
        return np.inf
    return file.more if file.more > 0 else min(needed, 0.0)


def _least_squares(
    problem: ChainProblem, point: Array, notary: Notary, files: Files
) -> tuple[float | None, int | None]:
    """What the calibrated leg needs, and at how many poses it fits; a certificate where at all [DACP06, §5.1.2]."""
    if not np.isfinite(point).all() or point not in problem.prior:
        return None, None
    exhibit = exhibited(problem, point)
    if exhibit.needed <= 0:
        names = (f"leg-{problem.chain}-least-squares", "")
        files.append(notary.witness(names, point, (exhibit.move, exhibit.turn), legs=(problem.chain,)))
    return exhibit.needed, _fitted(problem, point)


def _fitted(problem: ChainProblem, point: Array) -> int:
    """At how many poses a chain fits."""
    return int((excess(problem, point).reshape(2, -1).max(axis=0) <= 0).sum())


def _without(
    problem: ChainProblem, notary: Notary, files: Files, outliers: int, width: float
) -> tuple[WithoutPoses, Array]:
    """What is proven if so many poses may be wrong, and the leg that fits the others best."""
    leg, q, began = problem.chain, outliers, process_time()
    relaxed = relaxed_tolerance(problem, q, width=width)
    wrong = wrong_poses(problem, q, relaxed.left_out)
    took = process_time() - began
    name = f"leg-{leg}-without-{q}"
    states = {"at_least": wrong.at_least, "q": q, "outliers": wrong.named}
    proof = notary.outliers(f"leg-{leg}-wrong-poses", wrong.contradictions, leg, **states) if wrong.at_least else None
    files.append(proof)
    lower = -np.inf
    if relaxed.contradictions and relaxed.upper > 0:
        bound = notary.outliers(
            f"{name}-epsilon-lower", relaxed.contradictions, leg, at_least=q + 1, more=relaxed.lower
        )
        files.append(bound)
        lower = relaxed.lower if bound else lower
    kept = ~np.isin(np.arange(problem.n_rows), relaxed.left_out)
    exhibit = exhibited(problem.select(kept), relaxed.fit.point)
    errors = (np.zeros((problem.n_rows, 3)), np.zeros((problem.n_rows, 3)))
    errors[0][kept], errors[1][kept] = exhibit.move, exhibit.turn
    names = (f"{name}-fits", f"{name}-epsilon-upper")
    fit = notary.witness(names, relaxed.fit.point, errors, legs=(leg,), left_out=relaxed.left_out, more=exhibit.needed)
    files.append(fit)
    bracket = Bracket(lower, proven_upper(fit, exhibit.needed), took)
    at_least, named = (wrong.at_least, wrong.named) if proof else (0, ())
    return WithoutPoses(q, at_least, named, relaxed.left_out, bracket), relaxed.fit.point


def joint_finding(problem: JointProblem, legs: Sequence[ChainFinding], points: Array, notary: Notary) -> JointFinding:
    """What is proven about all legs together, from the legs that need least by themselves (legs, 7)."""
    together = at_least_each(_together(problem, points, notary), legs)
    return _without_wrong(problem, together, legs, points, notary)


def _together(problem: JointProblem, points: Array, notary: Notary) -> JointFinding:
    began = process_time()
    tolerance = joint_tolerance(problem, points)
    took, exhibit = process_time() - began, tolerance.exhibit
    names = ("joint-fits", "joint-epsilon-upper")
    errors = (exhibit.move, exhibit.turn)
    witness = notary.witness(names, tolerance.points, errors, more=exhibit.needed)
    files = [witness] if witness else []
    lower, upper = tolerance.lower, proven_upper(witness, exhibit.needed)
    if tolerance.tree is not None:
        proof = notary.empty("joint-epsilon-lower", tolerance.tree, more=lower)
        files += [proof] if proof else []
        lower = lower if proof else -np.inf
    finding = Finding.REFUTED if lower >= 0 and tolerance.tree is not None else Finding.OPEN
    if witness and witness.more == 0:
        finding = Finding.FITS
    return JointFinding(finding, Bracket(lower, upper, took), None, tuple(files))


def at_least_each(together: JointFinding, chains: Sequence[ChainFinding]) -> JointFinding:
    """The finding about all together, with what one chain needs, or cannot have."""
    own = together.epsilon.lower
    strongest = max(chains, key=lambda chain: chain.epsilon.lower)
    lower = max(own, strongest.epsilon.lower)
    refuted = any(chain.finding is Finding.REFUTED for chain in chains)
    return replace(
        together,
        finding=Finding.REFUTED if refuted else together.finding,
        epsilon=replace(together.epsilon, lower=min(lower, together.epsilon.upper)),
        lower_of=strongest.chain if lower > own else None,
        own_lower=own,
    )


def _without_wrong(
    problem: JointProblem, together: JointFinding, legs: Sequence[ChainFinding], points: Array, notary: Notary
) -> JointFinding:
    """The finding about all legs, with a fit without the poses that are proven wrong."""
    wrong = sorted({pose for leg in legs if leg.without is not None for pose in leg.without.named})
    if not wrong:
        return together
    kept = ~np.isin(np.arange(problem.n_poses), wrong)
    rest = problem.select(kept)
    fitted = best_together(rest, points, enough=ROOM)
    exhibit = exhibited_together(rest, fitted.points, fitted.errors)
    errors = (np.zeros((len(kept), 3)), np.zeros((len(kept), 3)))
    errors[0][kept], errors[1][kept] = exhibit.move, exhibit.turn
    names = ("joint-without-wrong", "joint-without-wrong")
    file = notary.witness(names, fitted.points, errors, left_out=wrong, more=exhibit.needed)
    if file is None:
        return together
    needed_more = proven_upper(file, exhibit.needed)
    return replace(together, left_out=tuple(wrong), needed=needed_more, files=(*together.files, file))


def with_joint_box(problem: JointProblem, together: JointFinding, notary: Notary) -> JointFinding:
    """The finding about all legs together, with their box."""
    answer = JointHull(max_steps=2).estimate(problem)
    empty = answer.region.hull().is_empty
    file = notary.answer("joint-empty" if empty else "joint-box", problem, answer)
    box = None if empty else answer.region.hull()
    finding = Finding.REFUTED if empty and file else together.finding
    return replace(together, box=box, finding=finding, files=(*together.files, *([file] if file else [])))


@dataclass(frozen=True, eq=False)
class Rod:
    """One chain of a delta, H4, Par4 or planar 3-RRR, and where it is sought."""

    model: KinematicModel
    center: Array
    """Parameters of the robot."""
    calibrated: Array | None
    problem: QuadraticChain

    def unknowns(self, parameters: Array) -> Array:
        """The chain's unknowns for the robot's parameters."""
        return quadratic_unknowns(self.model, parameters, self.problem.chain)


def rod_finding(rod: Rod, notary: Notary, width: float) -> ChainFinding:
    """What is proven about one chain."""
    question, problem = notary.question, rod.problem
    answer, took = _hull(problem)
    assert isinstance(answer.stats, LiftedStats)
    tree, empty = LiftedTree(answer.stats.stages), answer.status is Status.INCONSISTENT
    make = empty_certificate if empty else chain_certificate
    name = f"chain-{problem.chain}"
    files: Files = [notary.file(f"{name}-{'empty' if empty else 'box'}", lambda: make(question, tree))]
    refuted = files[0] is not None and empty
    began = process_time()
    start = rod.unknowns(rod.center if rod.calibrated is None else rod.calibrated)
    tolerance = minimal_tolerance(problem, width=width, start=start)
    upper = _exhibited(rod, notary, files, tolerance.point, tolerance.upper)
    lower, poses = -np.inf, tuple[int, ...]()
    if upper > 0 and tolerance.tree is not None:
        proof = notary.empty(f"{name}-epsilon-lower", tolerance.tree, (problem.chain,), tolerance.lower)
        files.append(proof)
        if proof is not None:
            lower, poses = tolerance.lower, tuple(pose for pose, _ in tolerance.poses[:5])
    refuted = refuted or lower >= 0
    both = needs(problem, tolerance.point)
    off, fitted = _rod_least_squares(rod)
    return ChainFinding(
        chain=problem.chain,
        finding=Finding.REFUTED if refuted else Finding.FITS if upper <= 0 else Finding.OPEN,
        names=problem.names,
        center=rod.unknowns(rod.center),
        box=None if empty else answer.region.hull(),
        steps=answer.stats.steps,
        seconds=took,
        epsilon=Bracket(lower, upper, process_time() - began),
        least_squares=off,
        fitted=fitted,
        needs=np.maximum(both[: problem.n_poses], both[problem.n_poses :]),
        blame=poses,
        without=None,
        files=tuple(file for file in files if file is not None),
        parameters=() if empty else _parameters(rod.model, problem.chain, answer.region.hull()),
        prior=problem.prior,
    )


def _exhibited(rod: Rod, notary: Notary, files: Files, point: Array, more: float) -> float:
    """What readings must be off by more for this chain to fit, with its certificate; ∞ where it cannot be exhibited."""
    if not np.isfinite(more):
        return np.inf
    question, values = notary.question, rod.problem.exact(point)
    for slack in _ROD_SLACKS:
        least = float(max(more, 0.0) + slack)
        name = f"chain-{rod.problem.chain}-{'fits' if least == 0 else 'epsilon-upper'}"
        file = notary.file(name, lambda e=least: witness_certificate(question, values, more=e))  # type: ignore[misc]
        if file is not None:
            files.append(file)
            return least  # also where the chain fits with less: no certificate proves that
    return np.inf


def _rod_least_squares(rod: Rod) -> tuple[float | None, int | None]:
    """What readings must be off by more for the calibrated chain to fit, and at how many poses it does."""
    if rod.calibrated is None:
        return None, None
    x = rod.unknowns(rod.calibrated)
    more = needed_by(rod.problem, x) if x in rod.problem.prior else np.inf
    return (more, _fitted(rod.problem, x)) if np.isfinite(more) else (None, None)


def _parameters(model: KinematicModel, chain: int, box: Box) -> tuple[ParameterRange, ...]:
    """The robot's own parameters of a chain over a box of its unknowns."""
    own, columns = chain_parameters(model, chain, box), model.columns[chain - 1]
    if own.is_empty:
        return ()
    names, units = ([words[k] for k in columns] for words in (model.names, model.units))
    sides = zip(names, units, own.lower.tolist(), own.upper.tolist(), strict=True)
    return tuple(ParameterRange(*each) for each in sides)
