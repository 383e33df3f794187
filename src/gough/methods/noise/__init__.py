"""Noise measured from repeated motions, and tests of what estimators assume about it."""
