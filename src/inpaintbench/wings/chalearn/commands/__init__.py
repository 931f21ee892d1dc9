"""Commands of the challenges: their benchmarks, training, and ranking as they ranked."""
