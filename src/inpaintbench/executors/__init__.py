"""How to run a step over many items."""
