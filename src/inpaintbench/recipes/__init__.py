"""Whole benchmarks, one page each."""
