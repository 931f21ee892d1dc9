"""Masks and degradations of the challenges."""
