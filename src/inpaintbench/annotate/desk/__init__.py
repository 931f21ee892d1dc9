"""What raters are handed and what comes back: the state that events give, assignment, cards, overview."""
