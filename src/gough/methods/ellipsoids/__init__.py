"""Guaranteed ellipsoids of linear problems with bounded errors, in batches and row by row."""
