"""Bring a frozen dataset to the Hugging Face Hub, and slices of one back from there."""
