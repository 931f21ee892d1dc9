"""Desk of a study, which hands out tasks and takes answers: the state that events give, assignment, cards, overview."""
