"""Distances between two sets of feature vectors, and how certain they are: what metrics that compare sets of items compute."""
