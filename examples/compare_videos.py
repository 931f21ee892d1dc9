"""Compare videos frame by frame in a Gradio app of your own. Run it: python examples/compare_videos.py ONE.mp4 OTHER.mp4"""

from __future__ import annotations

import sys

import gradio as gr

from inpaintbench.annotate.player import ComparisonPlayer

with gr.Blocks(title="Compare videos") as app:
    ComparisonPlayer(sys.argv[1:])

if __name__ == "__main__":
    app.launch()
