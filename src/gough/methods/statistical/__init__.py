"""Least squares and its relatives, with honest covariance: estimates that claim CONFIDENCE."""
