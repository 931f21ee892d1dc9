"""Metrics of the challenges, and of the ridges of prints."""
