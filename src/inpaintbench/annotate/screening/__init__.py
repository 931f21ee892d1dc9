"""Rules that say whose answers a study should not count, stated before anybody answers; each is a leaf of ``rules.RULES``."""
