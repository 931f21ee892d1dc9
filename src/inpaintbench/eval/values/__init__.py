"""Values of items: measurements, means with intervals, and tests of differences; no pixels, no leaves, no pages."""
