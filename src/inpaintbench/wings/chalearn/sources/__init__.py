"""Footage of the challenges."""
