"""Find footage, cut it into normalised clips, measure and select them."""
