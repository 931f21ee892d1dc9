"""Run methods on a frozen dataset, score their predictions, report."""
