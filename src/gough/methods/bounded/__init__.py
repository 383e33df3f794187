"""Guaranteed boxes of linear problems with bounded errors: hulls, relaxed hulls, contractors, smallest bounds."""
