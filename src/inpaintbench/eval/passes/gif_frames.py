"""What EditBoard's released code shows its four metrics of quality: an edit as a GIF of 256 colours a frame."""

from __future__ import annotations

from inpaintbench.deviations import Deviation
from inpaintbench.types import Frames
from inpaintbench.video.images import gif_frames
from inpaintbench.view import ItemView

WITHOUT_GIF = Deviation(
    "what the metric looks at",
    "a GIF of 256 colours without repeated frames, written into the user's folder",
    "the frames themselves; `editboard/as-published-gif` looks at such a GIF, in memory",
    "40 dB between both on EditBoard's photographs; stuttering clips are measured on all their frames, still ones have a value",
    {"gif": False},
)


def through_gif(view: ItemView) -> ItemView:
    """A view whose prediction went through a GIF: fewer colours, and of equal frames in a row one alone."""
    frames = view.prediction
    # What is remembered holds the frames, so that no other array can get their id meanwhile.
    found: tuple[Frames, Frames] = view.shared.once(("gif", id(frames)), lambda: (frames, gif_frames(frames)))
    return ItemView.of_arrays(item_id=view.item_id, fps=view.fps, shared=view.shared, prediction=found[1])
