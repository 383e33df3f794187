"""The papers that gough grew out of: their tables beside those of virtual experiments."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from gough.papers import gough_calibration, gough_vision, h4_ellipsoid, h4_interval, palida, par4
from gough.papers.palida_printed import REPETITIONS as PALIDA_REPETITIONS
from gough.papers.reproduction import Reproduction

PAPERS: Mapping[str, Callable[..., Reproduction]] = MappingProxyType(
    {
        "h4-interval": h4_interval.reproduce,
        "h4-ellipsoid": h4_ellipsoid.reproduce,
        "par4": par4.reproduce,
        "palida": palida.reproduce,
        "gough": gough_calibration.reproduce,
        "gough-vision": gough_vision.reproduce,
    }
)
"""Papers that `gough reproduce` can reproduce."""

CAMPAIGNS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"palida": (palida.FEW, PALIDA_REPETITIONS), "gough-vision": (gough_vision.FEW, gough_vision.IN_PRINT)}
)
"""Papers that repeat experiments: how often by default, and how often in print."""
LEDGERS = ("campaign-*.jsonl",)
"""Files of results of campaigns, in the folder of a reproduction; an interrupted campaign goes on from them."""

__all__ = ["CAMPAIGNS", "LEDGERS", "PAPERS", "Reproduction"]
