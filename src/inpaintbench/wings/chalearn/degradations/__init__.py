"""Degrading pictures of fingerprints: what happens to the ink, what lies over it, and what it was printed on."""
