"""Findings about one chain and about all together: each proof becomes a certificate, which is checked at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from time import process_time
from typing import Any, NamedTuple

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
from gough.checker.chain_proofs import JointEmpty
from gough.checker.raw_chains import RawChains
from gough.checker.raw_containment import require_exhibited
from gough.closure.chain_problem import ChainProblem
from gough.closure.findings import Bracket, CertificateFile, ChainFinding, Finding, JointFinding, WithoutPoses
from gough.closure.fits import best_together, excess, exhibited, needed_by, needs
from gough.closure.joint import JointProblem
from gough.closure.joint_hull import JointHull
from gough.closure.outliers import relaxed_tolerance, wrong_poses
from gough.closure.tolerance import joint_tolerance, minimal_tolerance
from gough.core.arrays import Array
from gough.estimates import Estimate, LiftedStats, Status
from gough.evidence import LiftedTree
from gough.methods.nonlinear.lifted import LiftedHull
from gough.region import Box

_SLACKS = (0.0, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)
"""What is added to the need of a witness, in the unit of readings, until it also fits what the raw data state."""


_INNER = 1 - 2.0**-40
"""Factor of exhibited errors, lest they exceed the stated half-widths, which became doubles that contain them."""


class Exhibit(NamedTuple):
    """Errors of poses (N, S) to exhibit, none where they may be any, and what readings must be off by with them."""

    errors: Array | None
    needed: float

    def with_gaps(self, kept: Any) -> "Exhibit":
        """The errors of all poses, those that are not kept being zero."""
        if self.errors is None:
            return self
        errors = np.zeros((len(kept), self.errors.shape[1]))
        errors[kept] = self.errors
        return self._replace(errors=errors)


class Notary:
    """Makes certificates about the chains of one question and checks each; what cannot be certified gives none.

    Where the raw data are known, each certificate must hold about what they state too.
    """

    def __init__(self, problem: JointProblem, question: ChainQuestion, raw: RawChains | None) -> None:
        self.problem, self.question, self.raw = problem, question, raw

    def name(self, chain: int) -> str:
        """The beginning of the names of a chain's files."""
        return f"{self.question.word}-{chain}"

    def file(self, name: str, make: Callable[[], ChainCertificate]) -> CertificateFile | None:
        """The certificate, checked; none where the evidence falls short in exact numbers."""
        try:
            certificate = make()
            if self.raw is not None:
                require_exhibited(certificate, self.question, self.raw)
        except NotProven:
            return None
        began = process_time()
        places = () if self.raw is None else self.raw.poses.places
        verdict, text = check_chains(certificate, self.question, places), render_chains(certificate)
        took = process_time() - began
        sides = list(verdict.intervals.values())
        box = Box(*np.array(sides).T) if sides else None
        return CertificateFile(f"{name}.json", text, verdict.statement, verdict.holds, took, certificate.more, box)

    def empty(
        self, name: str, tree: LiftedTree | JointEmpty, chains: Sequence[int] = (), more: float = 0.0
    ) -> CertificateFile | None:
        """A certificate that nothing fits."""
        return self.file(name, lambda: empty_certificate(self.question, tree, chains, more))

    def answer(self, name: str, answer: Estimate, chains: Sequence[int] = ()) -> CertificateFile | None:
        """A certificate of the box of a hull, or of emptiness."""
        assert isinstance(answer.stats, LiftedStats)
        tree = LiftedTree(answer.stats.stages)
        make = empty_certificate if answer.status is Status.INCONSISTENT else chain_certificate
        return self.file(name, lambda: make(self.question, tree, chains))

    def witness(
        self,
        names: tuple[str, str],
        points: Array,
        exhibit: Exhibit,
        *,
        chains: Sequence[int] = (),
        left_out: Sequence[int] = (),
    ) -> CertificateFile | None:
        """A certificate that these chains fit, readings being widened by about what the exhibit needs.

        The first name is for a witness with the tolerances as stated, the second for one that needs more; none is made
        where that name is empty.
        """
        if not np.isfinite(exhibit.needed):
            return None
        values = self._exact(points, chains)
        errors = () if exhibit.errors is None else (_INNER * exhibit.errors).tolist()
        for slack in _SLACKS:
            total = max(exhibit.needed, 0.0) + slack
            name = names[total > 0]
            file = name and self.file(
                name,
                lambda e=total: witness_certificate(  # type: ignore[misc]
                    self.question, values, errors, left_out=left_out, chains=chains, more=e
                ),
            )
            if file and (file.more == 0) == (total == 0):
                return file
        return None

    def _exact(self, points: Array, chains: Sequence[int]) -> list[Fraction]:
        """Unknowns of chain after chain, within the stated prior, that satisfy the conditions between them."""
        parts = [part for part in self.problem.parts if part.chain in (chains or self.problem.chains)]
        values, first = list[Fraction](), 0
        for part in parts:
            inner = _inner(part.prior)
            point = points[first : first + len(part.prior)]
            values += part.exact(np.clip(point, inner.lower, inner.upper))
            first += len(part.prior)
        return values

    def outliers(self, name: str, trees: Iterable[LiftedTree], chain: int, **states: Any) -> CertificateFile | None:
        """A certificate that so many poses are wrong."""
        return self.file(name, lambda: outlier_certificate(self.question, trees, chains=(chain,), **states))


def _inner(prior: Box) -> Box:
    """A box within the stated prior, which became doubles that contain it."""
    middle = (prior.lower + prior.upper) / 2
    inside = (prior.upper - middle) * (1 - 2**-32) - abs(middle) * 2**-40
    return Box.around(middle, np.maximum(inside, 0.0))


Files = list[CertificateFile | None]


def chain_finding(
    problem: ChainProblem, center: Array, calibrated: Array | None, notary: Notary, *, outliers: int, width: float
) -> tuple[ChainFinding, Array]:
    """What is proven about one chain, and the chain of the prior that needs least."""
    chain, name, files = problem.chain, notary.name(problem.chain), Files()
    began = process_time()
    tolerance = minimal_tolerance(problem, width=width, start=calibrated)
    sought = process_time() - began
    began = process_time()
    answer = LiftedHull().estimate(problem)
    took = process_time() - began
    empty = answer.status is Status.INCONSISTENT
    files.append(notary.answer(f"{name}-{'empty' if empty else 'box'}", answer, (chain,)))
    refuted = empty and files[0] is not None
    names = (f"{name}-fits", f"{name}-epsilon-upper")
    fit = notary.witness(names, tolerance.point, _exhibit(problem, tolerance.point), chains=(chain,))
    files.append(fit)
    lower, upper = -np.inf, _proven_upper(fit)
    if upper > 0 and tolerance.tree is not None:
        proof = notary.empty(f"{name}-epsilon-lower", tolerance.tree, (chain,), tolerance.lower)
        files.append(proof)
        lower = tolerance.lower if proof else lower
    refuted = refuted or lower >= 0
    off, fitted = _least_squares(problem, calibrated, notary, files)
    without, best = None, tolerance.point
    if refuted and outliers:
        without, best = _without(problem, notary, files, outliers, width)
    assert isinstance(answer.stats, LiftedStats)
    finding = ChainFinding(
        chain=chain,
        finding=Finding.REFUTED if refuted else Finding.FITS if upper <= 0 else Finding.OPEN,
        names=problem.unknowns.names,
        center=center,
        box=None if empty else _covering(answer.region.hull(), files[0]),
        steps=answer.stats.steps,
        seconds=took,
        epsilon=Bracket(lower, upper, sought, max(tolerance.boxes, 1)),
        least_squares=off,
        needs=needs(problem, best).reshape(2, -1).max(axis=0),
        blame=tuple(pose for pose, _ in tolerance.poses[:5]) if np.isfinite(lower) else (),
        without=without,
        files=tuple(file for file in files if file is not None),
        prior=problem.prior,
        fitted=fitted,
    )
    return finding, tolerance.point


def _covering(box: Box, file: CertificateFile | None) -> Box:
    """The smallest box that contains that of the method and what its certificate proves, whose digits differ."""
    if file is None or file.box is None:
        return box
    return Box(np.minimum(box.lower, file.box.lower), np.maximum(box.upper, file.box.upper))


def _exhibit(problem: ChainProblem, point: Array) -> Exhibit:
    """What a certificate exhibits beside a chain: errors of its poses if all are shared, else none."""
    if problem.reading is None:
        return Exhibit(*exhibited(problem, point))
    return Exhibit(None, needed_by(problem, point))


def _proven_upper(file: CertificateFile | None) -> float:
    """The upper end of ε that a witness proves: what its certificate widens readings by."""
    return np.inf if file is None else file.more


def _least_squares(
    problem: ChainProblem, point: Array | None, notary: Notary, files: Files
) -> tuple[float | None, int | None]:
    """What the calibrated chain needs, and at how many poses it fits; a certificate if at all [DACP06, §5.1.2]."""
    if point is None or not np.isfinite(point).all() or point not in problem.prior:
        return None, None
    exhibit = _exhibit(problem, point)
    if exhibit.needed <= 0:
        names = (f"{notary.name(problem.chain)}-least-squares", "")
        files.append(notary.witness(names, point, exhibit, chains=(problem.chain,)))
    fitted = int((excess(problem, point).reshape(2, -1).max(axis=0) <= 0).sum())
    return (exhibit.needed, fitted) if np.isfinite(exhibit.needed) else (None, fitted)


def _without(
    problem: ChainProblem, notary: Notary, files: Files, outliers: int, width: float
) -> tuple[WithoutPoses, Array]:
    """What is proven if so many poses may be wrong, and the chain that fits the others best."""
    chain, q, began = problem.chain, outliers, process_time()
    relaxed = relaxed_tolerance(problem, q, width=width)
    wrong = wrong_poses(problem, q, relaxed.left_out)
    took = process_time() - began
    own = notary.name(chain)
    name = f"{own}-without-{q}"
    states = {"at_least": wrong.at_least, "q": q, "outliers": wrong.named}
    proof = notary.outliers(f"{own}-wrong-poses", wrong.contradictions, chain, **states) if wrong.at_least else None
    files.append(proof)
    lower = -np.inf
    if relaxed.contradictions and relaxed.upper > 0:
        bound = notary.outliers(
            f"{name}-epsilon-lower", relaxed.contradictions, chain, at_least=q + 1, more=relaxed.lower
        )
        files.append(bound)
        lower = relaxed.lower if bound else lower
    kept = ~np.isin(np.arange(problem.n_poses), relaxed.left_out)
    exhibit = _exhibit(problem.select(kept), relaxed.fit.point).with_gaps(kept)
    names = (f"{name}-fits", f"{name}-epsilon-upper")
    fit = notary.witness(names, relaxed.fit.point, exhibit, chains=(chain,), left_out=relaxed.left_out)
    files.append(fit)
    bracket = Bracket(lower, _proven_upper(fit), took)
    at_least, named = (wrong.at_least, wrong.named) if proof else (0, ())
    return WithoutPoses(q, at_least, named, relaxed.left_out, bracket), relaxed.fit.point


def joint_finding(chains: Sequence[ChainFinding], points: Array, notary: Notary) -> JointFinding:
    """What is proven about all chains together, from the chains that need least by themselves."""
    together = at_least_each(_together(points, notary), chains)
    return _without_wrong(together, chains, points, notary)


def _together(points: Array, notary: Notary) -> JointFinding:
    began = process_time()
    tolerance = joint_tolerance(notary.problem, points)
    took, names = process_time() - began, ("joint-fits", "joint-epsilon-upper")
    witness = notary.witness(names, tolerance.points, Exhibit(*tolerance.exhibit))
    files = [witness] if witness else []
    lower, upper = tolerance.lower, _proven_upper(witness)
    if tolerance.tree is not None:
        proof = notary.empty("joint-epsilon-lower", tolerance.tree, more=lower)
        files += [proof] if proof else []
        lower = lower if proof else -np.inf
    finding = Finding.REFUTED if lower >= 0 and tolerance.tree is not None else Finding.OPEN
    finding = Finding.FITS if upper <= 0 else finding
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
    together: JointFinding, chains: Sequence[ChainFinding], points: Array, notary: Notary
) -> JointFinding:
    """The finding about all chains, with a fit without the poses that are proven wrong."""
    wrong = sorted({pose for chain in chains if chain.without is not None for pose in chain.without.named})
    if not wrong:
        return together
    kept = ~np.isin(np.arange(notary.problem.n_poses), wrong)
    rest = notary.problem.select(kept)
    fitted, exhibited_errors = best_together(rest, points)
    exhibit = Exhibit(*exhibited_errors).with_gaps(kept)
    names = ("joint-without-wrong", "joint-without-wrong")
    file = notary.witness(names, fitted, exhibit, left_out=wrong)
    if file is None:
        return together
    return replace(together, left_out=tuple(wrong), needed=_proven_upper(file), files=(*together.files, file))


def with_joint_box(together: JointFinding, notary: Notary) -> JointFinding:
    """The finding about all chains together, with their box."""
    answer = JointHull(max_steps=2).estimate(notary.problem)
    empty = answer.region.hull().is_empty
    file = notary.answer("joint-empty" if empty else "joint-box", answer)
    box = None if empty else _covering(answer.region.hull(), file)
    finding = Finding.REFUTED if empty and file else together.finding
    return replace(together, box=box, finding=finding, files=(*together.files, *([file] if file else [])))
