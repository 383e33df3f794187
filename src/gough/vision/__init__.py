"""Images to poses: targets, cameras, and what a camera measures. Needs gough[vision] where images are read."""

from gough.vision.boards import AprilGrid as AprilGrid
from gough.vision.boards import ArucoGrid as ArucoGrid
from gough.vision.boards import Chessboard as Chessboard
from gough.vision.camera import CalibratedCamera as CalibratedCamera
from gough.vision.camera import anchored as anchored
from gough.vision.camera import calibrate_camera as calibrate_camera
from gough.vision.camera import camera_text as camera_text
from gough.vision.camera import read_camera as read_camera
from gough.vision.camera_formats import read_any_camera as read_any_camera
from gough.vision.camera_formats import write_any_camera as write_any_camera
from gough.vision.detector import ImageRefused as ImageRefused
from gough.vision.detector import Sighting as Sighting
from gough.vision.detector import find_target as find_target
from gough.vision.image_tests import check_images as check_images
from gough.vision.images import image_files as image_files
from gough.vision.images import read_image as read_image
from gough.vision.lens import Camera as Camera
from gough.vision.pose import MeasuredPose as MeasuredPose
from gough.vision.pose import measure_pose as measure_pose
from gough.vision.pose_enclosure import PoseBounds as PoseBounds
from gough.vision.poses import MeasuredImages as MeasuredImages
from gough.vision.poses import bounded_pose as bounded_pose
from gough.vision.poses import camera_share as camera_share
from gough.vision.poses import measure_images as measure_images
from gough.vision.poses import pose_intervals as pose_intervals
from gough.vision.renderer import Conditions as Conditions
from gough.vision.renderer import Rendering as Rendering
from gough.vision.renderer import render as render
from gough.vision.rig import Rig as Rig
from gough.vision.rig import RigCamera as RigCamera
from gough.vision.rig import RigSighting as RigSighting
from gough.vision.rig import RigTarget as RigTarget
from gough.vision.rig import Sightings as Sightings
from gough.vision.rig_file import read_rig as read_rig
from gough.vision.rig_file import rig_text as rig_text
from gough.vision.rig_fit import FusedPoses as FusedPoses
from gough.vision.rig_fit import fit_rig as fit_rig
from gough.vision.rig_simulation import simulate_sightings as simulate_sightings
from gough.vision.target_design import design_target as design_target
from gough.vision.target_drawing import to_pdf as to_pdf
from gough.vision.target_drawing import to_png as to_png
from gough.vision.target_drawing import to_svg as to_svg
from gough.vision.targets import CharucoBoard as CharucoBoard
from gough.vision.targets import CircleGrid as CircleGrid
from gough.vision.targets import DotTarget as DotTarget
from gough.vision.targets import Target as Target
from gough.vision.targets import read_target as read_target
from gough.vision.targets import write_target as write_target

__all__ = [
    "AprilGrid",
    "ArucoGrid",
    "CalibratedCamera",
    "Camera",
    "CharucoBoard",
    "Chessboard",
    "CircleGrid",
    "Conditions",
    "DotTarget",
    "FusedPoses",
    "ImageRefused",
    "MeasuredImages",
    "MeasuredPose",
    "PoseBounds",
    "Rendering",
    "Rig",
    "RigCamera",
    "RigSighting",
    "RigTarget",
    "Sighting",
    "Sightings",
    "Target",
    "anchored",
    "bounded_pose",
    "calibrate_camera",
    "camera_share",
    "camera_text",
    "check_images",
    "design_target",
    "find_target",
    "fit_rig",
    "image_files",
    "measure_images",
    "measure_pose",
    "pose_intervals",
    "read_any_camera",
    "read_camera",
    "read_image",
    "read_rig",
    "read_target",
    "render",
    "rig_text",
    "simulate_sightings",
    "to_pdf",
    "to_png",
    "to_svg",
    "write_any_camera",
    "write_target",
]
