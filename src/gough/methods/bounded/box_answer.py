"""The estimate that a proven box makes: consistent or not, bounded or not, limited by the prior or not."""

from dataclasses import replace
from typing import Any

import numpy as np

from gough.core.text import written
from gough.estimates import Claim, Estimate, HullStats, Status, guarded, limited_by_prior
from gough.region import Box
from gough.unknowns import Unknowns


def box_answer(
    method: Any,
    claim: Claim,
    unknowns: Unknowns,
    box: Box,
    stats: HullStats,
    *,
    notes: tuple[str, ...] = (),
    contradiction: str = "",
    status: Status = Status.OK,
) -> Estimate:
    """The estimate that belongs to a box; `contradiction` says what an empty one means, `status` how it ended."""
    limited: tuple[str, ...] = ()
    if box.is_empty:
        status = Status.INCONSISTENT
        notes = (contradiction, *notes) if contradiction else notes
    else:
        limited = _on_the_prior(unknowns, box)
        unbounded = [name for name, w in zip(unknowns.names, box.width, strict=True) if not np.isfinite(w)]
        if unbounded:
            status = Status.UNBOUNDED
            notes = (f"Without a finite bound: {', '.join(unbounded)}.", *notes)
    stats, notes = replace(stats, prior_limited=limited), notes + limited_by_prior(limited)
    return guarded(Estimate(box, claim, status, unknowns, written(method), stats, notes))


def _on_the_prior(unknowns: Unknowns, box: Box) -> tuple[str, ...]:
    prior = unknowns.bounds
    low = (box.lower == prior.lower) & np.isfinite(box.lower)
    high = (box.upper == prior.upper) & np.isfinite(box.upper)
    return tuple(name for name, on in zip(unknowns.names, (low | high) & ~unknowns.is_fixed, strict=True) if on)
