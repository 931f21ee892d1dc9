"""Synthesis of fingerprints from a few parameters, and estimation of ridges from pictures of prints.

Shared by the rooms, like ``video`` and ``regions``: curation makes prints, masks degrade them, eval enhances and measures them.
"""
