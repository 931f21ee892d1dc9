"""Holes filled with patches of the same picture."""
