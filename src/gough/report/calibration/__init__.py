"""Reports of kinematic calibration."""
