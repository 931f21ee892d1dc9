"""Where methods fail: the effect of everything that differs between items, and the failures that none of it explains."""
