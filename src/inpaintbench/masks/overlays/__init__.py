"""Overlays: text drawn over a clip with exact opacity."""
