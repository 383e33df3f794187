"""Images to poses: targets, cameras, and what a camera measures. Needs gough[vision] where images are read."""

from gough.vision.detector import ImageRefused as ImageRefused
from gough.vision.detector import Sighting as Sighting
from gough.vision.detector import find_target as find_target
from gough.vision.lens import Camera as Camera
from gough.vision.pose import MeasuredPose as MeasuredPose
from gough.vision.pose import measure_pose as measure_pose
from gough.vision.renderer import Conditions as Conditions
from gough.vision.renderer import Rendering as Rendering
from gough.vision.renderer import render as render
from gough.vision.target_design import design_target as design_target
from gough.vision.target_drawing import to_pdf as to_pdf
from gough.vision.target_drawing import to_png as to_png
from gough.vision.target_drawing import to_svg as to_svg
from gough.vision.target_files import read_target as read_target
from gough.vision.target_files import write_target as write_target
from gough.vision.targets import CharucoBoard as CharucoBoard
from gough.vision.targets import CircleGrid as CircleGrid
from gough.vision.targets import DotTarget as DotTarget
from gough.vision.targets import Target as Target

__all__ = [
    "Camera",
    "CharucoBoard",
    "CircleGrid",
    "Conditions",
    "DotTarget",
    "ImageRefused",
    "MeasuredPose",
    "Rendering",
    "Sighting",
    "Target",
    "design_target",
    "find_target",
    "measure_pose",
    "read_target",
    "render",
    "to_pdf",
    "to_png",
    "to_svg",
    "write_target",
]
