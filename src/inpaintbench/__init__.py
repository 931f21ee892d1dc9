"""Diagnostic benchmarks for inpainting, video decaptioning, fingerprint denoising and video editing."""

__version__ = "0.2.0"
