"""The DeltaLab Gough platform: interval methods for calibration, with poses from a camera [DACP06]."""
