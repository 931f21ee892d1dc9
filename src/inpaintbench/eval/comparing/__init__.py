"""Methods compared over the items of a dataset: means with intervals, permutation tests, ranks by several metrics."""
