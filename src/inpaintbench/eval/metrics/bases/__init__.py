"""What several metrics have in common: each module is the base class of one family."""
