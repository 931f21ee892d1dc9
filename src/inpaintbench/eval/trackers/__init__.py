"""Scores handed to experiment trackers: one shape for all of them, and a sink for each."""
