"""Passes of networks over the frames of an item, whose results several metrics and methods use."""
