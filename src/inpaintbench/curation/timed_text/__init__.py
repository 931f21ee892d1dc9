"""Timed text: reading SubRip, WebVTT and ASS files, cutting them to clips, and inventing text where there is none."""
