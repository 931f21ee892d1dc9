"""Clips that are to be edited: who asks for what, where frames and object masks lie, and masks at the size of the clips."""
