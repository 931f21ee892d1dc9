"""A Gradio component that compares videos frame by frame. It knows nothing of studies; the rater's page uses it."""

from inpaintbench.annotate.player.component import ComparisonPlayer, Shown

__all__ = ["ComparisonPlayer", "Shown"]
