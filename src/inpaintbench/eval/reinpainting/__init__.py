"""Re-inpainting self-consistency: a result is inpainted again under patches of its known pixels, and the two are compared."""
