"""Robots: equations only, no data, no method. One file per family."""

from gough.robots.five_bar import FiveBar as FiveBar
from gough.robots.model import DynamicModel as DynamicModel
from gough.robots.model import efforts as efforts

__all__ = ["DynamicModel", "FiveBar", "efforts"]
