"""Make corruptions (holes, overlays) and measure them."""
