"""Verdicts in sentences, for the terminal and the page alike."""

import numpy as np

from gough.core.arrays import Array
from gough.core.text import listed, short_labels
from gough.dynamics.tables import holds
from gough.estimates import Claim, Estimate
from gough.methods.statistical.identifiability import Identifiability
from gough.region import ConfidenceEllipsoid
from gough.report.base.regions import belief

CLAIMS = {
    Claim.VALUE: "a value without an interval.",
    Claim.CONFIDENCE: (
        "the interval contains the truth with the stated probability, if the noise is as estimated from the residuals."
    ),
    Claim.ENCLOSURE: (
        "the set contains every value that the error bounds allow, in exact arithmetic. It is printed rounded outward."
    ),
    Claim.PROOF: (
        "the set contains every value that the error bounds allow; the proof covers all rounding errors. It is printed "
        "rounded outward, so the proof holds for the printed set too."
    ),
}
"""Meaning of each claim."""


def determined(analysis: Identifiability) -> tuple[str, ...]:
    """Which parameters the data determine, and how well.

    Examples:
        >>> import gough
        >>> from gough.methods import identifiability
        >>> problem = gough.LinearProblem([[1.0, 2.0], [2.0, 4.0]], [0, 0], gough.Unknowns(["m_1", "m_2"]))
        >>> determined(identifiability(problem))[0]
        'The data determine no single parameter and 1 combination (marked *) of 2 parameters.'
    """
    n = len(analysis.names)
    if analysis.is_full_rank:
        sentences = [f"The data determine all {n} parameters." if n > 1 else "The data determine the parameter."]
    else:
        alone = n - len(analysis.not_identifiable)
        single = f"{alone or 'no'} single parameter{'s' * (alone > 1)}"
        together = f"{analysis.rank - alone} combination{'s' * (analysis.rank - alone != 1)}"
        sentences = [f"The data determine {single} and {together} (marked *) of {n} parameters."]
    if analysis.without_effect:
        sentences.append(f"No effect on the data: {listed(analysis.without_effect)}.")
    if np.isfinite(analysis.condition):
        sentences.append(
            f"Condition number {analysis.condition:.3g}, columns scaled to unit length. Worst-excited direction: "
            f"{analysis.weakest}."
        )
    return tuple(sentences)


def in_sigma(estimate: Estimate, truth: Array) -> Array:
    """(value − truth)/σ of each unknown."""
    return np.asarray((estimate.value - truth) / belief(estimate).sigma)


def against_truth(label: str, estimate: Estimate, truth: Array) -> str:
    """How many true values lie in their intervals, and the largest error of a confidence region."""
    if estimate.claim is Claim.VALUE or np.isnan(estimate.value).all():
        return ""
    inside = holds(estimate, truth)
    name, region = f"{label[:1].upper()}{label[1:]}", estimate.region
    many = f"{int(inside.sum())} of {len(truth)} true values"
    labels = short_labels(estimate.unknowns.names)
    if not isinstance(region, ConfidenceEllipsoid):
        missed = listed([label for label, held in zip(labels, inside, strict=True) if not held])
        return f"{name}: {many} in their interval{f', not {missed}' if missed else ''}."
    errors = in_sigma(estimate, truth)
    worst = int(abs(errors).argmax())
    return f"{name}: {many} in their {region.level:.0%} interval, worst {abs(errors[worst]):.1f} σ ({labels[worst]})."


def near_zero(estimate: Estimate) -> str:
    """Which unknowns have intervals that contain zero, in a sentence; empty where there is none."""
    labels = short_labels(estimate.unknowns.names)
    at_zero = holds(estimate, np.zeros(len(labels)))
    small = [label for label, held in zip(labels, at_zero, strict=True) if held]
    return f"Not significantly different from zero: {listed(small)}." if small else ""
