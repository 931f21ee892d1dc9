"""A run: predictions of methods, their scores under a protocol, and what the run folder remembers of both."""
