"""Baselines of the challenges."""
