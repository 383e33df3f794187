"""Identification: a robot and its recording in, estimates with verdicts on model, bound and prediction out."""
