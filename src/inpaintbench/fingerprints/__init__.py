"""Synthetic fingerprints: from a few drawn numbers to a picture of a print, and from a picture back to its ridges.

Shared by the rooms, like ``video`` and ``regions``: curation makes prints, masks degrade them, eval enhances and measures them.
"""
