"""Nonlinear problems: repeated linearization, maximum likelihood, interval Newton, lifted hulls."""
