"""One leg's findings, and the notary: whatever is proven becomes a certificate, which is checked at once."""

from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np

from gough.checker import LegCertificate, NotProven, PlatformQuestion, check_leg
from gough.checker.leg_files import render_leg
from gough.checker.of_leg import bound_certificate, empty_certificate, outlier_certificate, witness_certificate
from gough.checker.raw import Raw, require_for_raw
from gough.closure import LegProblem, LegTolerance, relaxed_tolerance, wrong_poses
from gough.closure.joint_exhibit import exhibited
from gough.closure.leg_tolerance import needed
from gough.core.arrays import Array
from gough.estimates import Estimate, LiftedStats, Status
from gough.evidence import LiftedTree
from gough.methods import LiftedHull
from gough.region import Box
from gough.report.certification.results import Bracket, CertificateFile, Finding, LegFinding, WithoutPoses
from gough.studies.certification_schema import CertifyTable

_SLACKS = (0.0, 1e-14, 1e-13, 1e-12, 1e-11)
"""Metres that are added to what a witness needs until it also fits what the raw data state."""


class Notary:
    """Makes certificates about one question and checks each; what cannot be certified gives none.

    Where the raw data are known, each certificate holds about what they state too.
    """

    def __init__(self, question: PlatformQuestion, raw: Raw | None) -> None:
        self._question, self._raw = question, raw
        middle = (question.prior.lower + question.prior.upper) / 2
        inside = (question.prior.upper - middle) * (1 - 2**-32) - abs(middle) * 2**-40
        self._inner = Box.around(middle, np.maximum(inside, 0.0))
        """Within the stated prior."""

    def _file(self, name: str, make: Callable[[], LegCertificate]) -> CertificateFile | None:
        try:
            certificate = make()
            if self._raw is not None:
                require_for_raw(certificate, self._question, self._raw)
        except NotProven:
            return None
        began = process_time()
        verdict = check_leg(certificate, self._question)
        took = process_time() - began
        text, states = render_leg(certificate), verdict.statement
        return CertificateFile(f"{name}.json", text, states, verdict.holds, took, certificate.more)

    def empty(self, name: str, tree: LiftedTree, legs: Sequence[int] = (), more: float = 0.0) -> CertificateFile | None:
        """Nothing fits."""
        return self._file(name, lambda: empty_certificate(self._question, tree, legs, more))

    def answer(self, name: str, problem: Any, answer: Estimate) -> CertificateFile | None:
        """The box of a hull, or that there is none."""
        assert isinstance(answer.stats, LiftedStats)
        tree = LiftedTree(answer.stats.stages)
        legs = (problem.leg,) if isinstance(problem, LegProblem) else problem.legs
        make = empty_certificate if answer.status is Status.INCONSISTENT else bound_certificate
        return self._file(name, lambda: make(self._question, tree, legs))

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
        """These legs fit with these errors of poses, readings being uncertain by about `more` than stated.

        The first name is for a witness with the tolerances as stated, the second for one that needs more; none is made
        where that name is empty.
        """
        chosen = legs or self._question.legs
        place = np.concatenate([7 * self._question.legs.index(leg) + np.arange(7) for leg in chosen])
        inside = np.clip(values, self._inner.lower[place], self._inner.upper[place])
        for slack in _SLACKS:
            total = max(more, 0.0) + slack
            name = names[total > 0]
            file = name and self._file(
                name,
                lambda e=total: witness_certificate(  # type: ignore[misc]
                    self._question, inside, *errors, left_out=left_out, legs=legs, more=e
                ),
            )
            if file and (file.more == 0) == (total == 0):
                return file
        return None

    def outliers(self, name: str, trees: Sequence[LiftedTree], leg: int, **states: Any) -> CertificateFile | None:
        """So many poses are wrong."""
        return self._file(name, lambda: outlier_certificate(self._question, trees, legs=(leg,), **states))


def leg_finding(
    problem: LegProblem,
    center: Array,
    calibrated: Array | None,
    *,
    asked: CertifyTable,
    notary: Notary,
    tolerance: tuple[LegTolerance, float],
) -> LegFinding:
    """What is proven about one leg, from its smallest tolerance and the time that took."""
    leg, found = problem.leg, tolerance[0]
    began = process_time()
    answer = LiftedHull().estimate(problem)
    took, files = process_time() - began, list[CertificateFile | None]()
    empty = answer.status is Status.INCONSISTENT
    files.append(notary.answer(f"leg-{leg}-{'empty' if empty else 'box'}", problem, answer))
    refuted = empty and files[0] is not None
    upper, fits = _upper(problem, found.point, notary, files, f"leg-{leg}")
    lower = -np.inf
    if upper > 0 and found.tree is not None:
        proof = notary.empty(f"leg-{leg}-epsilon-lower", found.tree, (leg,), found.lower)
        files.append(proof)
        lower = found.lower if proof else lower
    refuted = refuted or lower >= 0
    off = None if calibrated is None else _least_squares(problem, calibrated, notary, files)
    without, best = None, found.point
    if refuted and asked.outliers:
        without, best = _without(problem, asked, notary, files)
    assert isinstance(answer.stats, LiftedStats)
    needs = needed(problem, best)
    return LegFinding(
        leg=leg,
        finding=Finding.REFUTED if refuted else Finding.FITS if fits else Finding.OPEN,
        names=problem.unknowns.names,
        center=center,
        box=None if empty else answer.region.hull(),
        steps=answer.stats.steps,
        seconds=took,
        epsilon=Bracket(lower, upper, tolerance[1], max(found.boxes, 1)),
        least_squares=off,
        needs=np.maximum(needs[: problem.n_rows], needs[problem.n_rows :]),
        blame=tuple(pose for pose, _ in found.poses[:5]),
        without=without,
        files=tuple(file for file in files if file is not None),
        prior=problem.prior,
    )


def _upper(
    problem: LegProblem, point: Array, notary: Notary, files: list[CertificateFile | None], name: str
) -> tuple[float, bool]:
    """An ε with which a leg fits, exhibited; and whether it fits with the tolerances as stated."""
    shown = exhibited(problem, point)
    errors = (shown.move, shown.turn)
    names = (f"{name}-fits", f"{name}-epsilon-upper")
    file = notary.witness(names, point, errors, legs=(problem.leg,), more=shown.needed)
    files.append(file)
    return proven_upper(file, shown.needed), file is not None and file.more == 0


def proven_upper(file: CertificateFile | None, needed: float) -> float:
    """The upper end of ε that a witness proves: what it needs, or what its certificate lets readings be off by."""
    if file is None:
        return np.inf
    return file.more if file.more > 0 else min(needed, 0.0)


def _least_squares(
    problem: LegProblem, point: Array, notary: Notary, files: list[CertificateFile | None]
) -> float | None:
    """What the calibrated leg needs; a certificate where it fits [DACP06, §5.1.2]."""
    if not np.isfinite(point).all() or point not in problem.prior:
        return None
    shown = exhibited(problem, point)
    if shown.needed <= 0:
        errors = (shown.move, shown.turn)
        names = (f"leg-{problem.leg}-least-squares", "")
        files.append(notary.witness(names, point, errors, legs=(problem.leg,)))
    return shown.needed


def _without(
    problem: LegProblem, asked: CertifyTable, notary: Notary, files: list[CertificateFile | None]
) -> tuple[WithoutPoses, Array]:
    """What is proven if `outliers` poses may be wrong, and the leg that fits the others best."""
    leg, q, began = problem.leg, asked.outliers, process_time()
    relaxed = relaxed_tolerance(problem, q, width=asked.width)
    wrong = wrong_poses(problem, q, relaxed.left_out)
    took = process_time() - began
    name = f"leg-{leg}-without-{q}"
    told = {"at_least": wrong.at_least, "q": q, "outliers": wrong.named}
    proof = notary.outliers(f"leg-{leg}-wrong-poses", wrong.contradictions, leg, **told) if wrong.at_least else None
    files.append(proof)
    lower = -np.inf
    if relaxed.contradictions and relaxed.upper > 0:
        bound = notary.outliers(
            f"{name}-epsilon-lower", relaxed.contradictions, leg, at_least=q + 1, more=relaxed.lower
        )
        files.append(bound)
        lower = relaxed.lower if bound else lower
    kept = ~np.isin(np.arange(problem.n_rows), relaxed.left_out)
    shown = exhibited(problem.select(kept), relaxed.fit.point)
    errors = (np.zeros((problem.n_rows, 3)), np.zeros((problem.n_rows, 3)))
    errors[0][kept], errors[1][kept] = shown.move, shown.turn
    names = (f"{name}-fits", f"{name}-epsilon-upper")
    fit = notary.witness(names, relaxed.fit.point, errors, legs=(leg,), left_out=relaxed.left_out, more=shown.needed)
    files.append(fit)
    bracket = Bracket(lower, proven_upper(fit, shown.needed), took)
    at_least, named = (wrong.at_least, wrong.named) if proof else (0, ())
    return WithoutPoses(q, at_least, named, relaxed.left_out, bracket), relaxed.fit.point
