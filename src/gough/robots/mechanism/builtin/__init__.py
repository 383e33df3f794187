"""Mechanisms that come with the library."""
