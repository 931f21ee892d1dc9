"""Protocols of the challenges."""
