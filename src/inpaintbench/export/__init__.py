"""Freeze items and slices into a dataset that anyone can load and verify."""
