"""Report of a study: one HTML page of what raters answered, how far they agree and what follows from it."""
