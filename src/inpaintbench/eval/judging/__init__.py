"""Questions about an item that a model of the user's answers in place of people."""
