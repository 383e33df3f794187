"""Papers by name, for `gough reproduce`."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from gough.papers import par4
from gough.papers.gough_platform import paper as gough_paper
from gough.papers.gough_platform import vision
from gough.papers.h4 import ellipsoid, interval
from gough.papers.palida import paper as palida_paper
from gough.papers.palida.printed import REPETITIONS as PALIDA_REPETITIONS
from gough.papers.reproduction import Reproduction

PAPERS: Mapping[str, Callable[..., Reproduction]] = MappingProxyType(
    {
        "h4-interval": interval.reproduce,
        "h4-ellipsoid": ellipsoid.reproduce,
        "par4": par4.reproduce,
        "palida": palida_paper.reproduce,
        "gough": gough_paper.reproduce,
        "gough-vision": vision.reproduce,
    }
)
"""Papers that `gough reproduce` can reproduce."""

CAMPAIGNS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"palida": (palida_paper.FEW, PALIDA_REPETITIONS), "gough-vision": (vision.FEW, vision.IN_PRINT)}
)
"""Papers that repeat experiments: how often by default, and how often in print."""
