"""Verdicts in sentences, for the terminal and the page alike."""

from collections.abc import Sequence

import numpy as np

from gough.core.arrays import Array
from gough.estimates import Claim, Estimate
from gough.methods.statistical.identifiability import Identifiability
from gough.region import ConfidenceEllipsoid
from gough.report.base.intervals import holds
from gough.report.base.labels import short_labels

CLAIMS = {
    Claim.VALUE: "a number, nothing more.",
    Claim.CONFIDENCE: "the interval holds the truth with the stated probability, if the noise is as residuals show.",
    Claim.ENCLOSURE: (
        "the set holds every value that the error bounds allow, in exact arithmetic. It is printed rounded outward."
    ),
    Claim.PROOF: (
        "the set holds every value that the error bounds allow; the proof covers all rounding errors. It is printed "
        "rounded outward, so the proof holds for the printed set too."
    ),
}
"""What each claim means to a reader."""


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    Examples:
        >>> listed(["m_1", "m_2", "m_3"])
        'm_1, m_2 and m_3'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def determined(found: Identifiability) -> tuple[str, ...]:
    """What the data can and cannot tell apart.

    Examples:
        >>> import gough
        >>> from gough.methods import identifiability
        >>> problem = gough.LinearProblem([[1.0, 2.0], [2.0, 4.0]], [0, 0], gough.Unknowns(["m_1", "m_2"]))
        >>> determined(identifiability(problem))[0]
        'Of 2 parameters, the data determine 1 combination: none by itself, 1 only together with others (marked *).'
    """
    n = len(found.names)
    if found.is_full_rank:
        sentences = [f"The data determine every one of the {n} parameters by itself."]
    else:
        alone = n - len(found.not_identifiable)
        together = found.rank - alone
        many = f"{found.rank} combination{'s' * (found.rank != 1)}"
        by_themselves = f"{alone or 'none'} by {'themselves' if alone > 1 else 'itself'}"
        sentences = [
            f"Of {n} parameters, the data determine {many}: {by_themselves}, "  # noqa: ISC004 - one sentence
            f"{together} only together with others (marked *)."
        ]
    if found.without_effect:
        sentences.append(f"These data cannot show {listed(found.without_effect)}: no effect on them at all.")
    if np.isfinite(found.condition):
        sentences.append(
            f"What the motion shows worst, it shows {found.condition:.3g} times less than what it shows best "
            "(condition number)."
        )
    return tuple(sentences)


def in_sigma(estimate: Estimate, truth: Array) -> Array:
    """(value − truth)/σ of each unknown."""
    return np.asarray((estimate.value - truth) / _belief(estimate).sigma)


def against_truth(label: str, estimate: Estimate, truth: Array) -> str:
    """How many true values the intervals hold, and of a belief the worst of all errors."""
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
    """Which unknowns might as well be zero, or an empty string."""
    labels = short_labels(estimate.unknowns.names)
    at_zero = holds(estimate, np.zeros(len(labels)))
    hidden = [label for label, held in zip(labels, at_zero, strict=True) if held]
    return f"Too small to be told from zero in these data: {listed(hidden)}." if hidden else ""


def _belief(estimate: Estimate) -> ConfidenceEllipsoid:
    assert isinstance(estimate.region, ConfidenceEllipsoid)
    return estimate.region
