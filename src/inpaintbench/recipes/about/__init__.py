"""What each recipe says of its benchmarks, apart from what builds them."""
