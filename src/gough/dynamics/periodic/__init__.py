"""Repeats of a periodic motion: noise in positions and efforts, path, and parameters by every estimator."""
