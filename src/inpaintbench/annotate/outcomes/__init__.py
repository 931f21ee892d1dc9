"""Votes become rows of other rooms, and files."""
