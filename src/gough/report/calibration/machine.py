"""Files for the machine: geometry.toml, and what a delta printer's firmware reads."""

from gough.core.errors import InputError
from gough.data.firmware import marlin_gcode, reprapfirmware_gcode
from gough.data.klipper import klipper_block
from gough.geometry import Calibrated, CalibratedPrinter
from gough.geometry.instruments import CalibratedByInstruments
from gough.geometry.machine import FAMILIES, MachineGeometry, geometry_text, machine_geometry
from gough.robots import LinearDelta

GEOMETRY = "geometry.toml"


def machine_files(answer: Calibrated | CalibratedPrinter | CalibratedByInstruments) -> dict[str, bytes]:
    """The files of a calibration for the machine, by name; none where the robot cannot be as it was found."""
    if type(answer.model) not in FAMILIES:
        return {}
    try:
        if isinstance(answer, CalibratedByInstruments):
            return geometry_files(answer.geometry)
        return geometry_files(machine_geometry(answer))
    except InputError:  # a calibration so wrong that its robot cannot be assembled
        return {}


def geometry_files(geometry: MachineGeometry) -> dict[str, bytes]:
    """geometry.toml; of a linear delta also klipper.cfg, marlin.gcode and reprapfirmware.g."""
    texts, model = {GEOMETRY: geometry_text(geometry)}, geometry.model
    if isinstance(model, LinearDelta):
        radius, parts = float(model.radius), [getattr(model, name).tolist() for name in ("angle", "arm", "endstop")]
        texts |= {
            "klipper.cfg": f"{klipper_block(radius, *parts)}\n",
            "marlin.gcode": f"{marlin_gcode(radius, *parts)}\n",
            "reprapfirmware.g": f"{reprapfirmware_gcode(radius, *parts)}\n",
        }
    return {name: text.encode() for name, text in texts.items()}
