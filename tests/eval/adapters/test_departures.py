"""Sentences on where a run's task is not the one that a program was published with."""

from __future__ import annotations

import pytest

from inpaintbench.eval.adapters.exchange import Shape, departures
from inpaintbench.eval.adapters.layouts import FramesRule, Task, layouts

HD, SMALL = Shape(1920, 1080, 90, blanked=True), Shape(208, 120, 12, blanked=True)


def told(name: str, *shapes: Shape, task: Task = "inpainting") -> str:
    layout = layouts()[name]
    return " ".join(departures(layout, shapes, task=task, divisor=layout.divisor))


@pytest.mark.parametrize(
    ("name", "shapes", "task", "words"),
    [
        ("rose", [SMALL], "inpainting", "Made for removal, and run here on inpainting."),
        ("rose", [SMALL], "inpainting", "Is shown the whole clip, with the object that it removes: here it finds the filling"),
        ("propainter", [SMALL], "inpainting", "Estimates optical flow on frames whose holes are not masked: here it finds"),
        ("vace", [SMALL], "inpainting", "Finds the colour (128, 128, 128) under the hole"),
        ("vace", [SMALL], "inpainting", "Takes a prompt, and gets an empty one."),
        ("vace", [SMALL._replace(captioned=True)], "inpainting", "Takes a prompt, and gets the item's caption."),
        ("vace", [SMALL._replace(captioned=True), SMALL, HD], "inpainting", "the item's caption, of 2 items an empty one."),
        ("vace", [HD, SMALL], "inpainting", "1 item is resized to that"),
        ("vace", [SMALL], "inpainting", "some are repeated (12 become 13) and cut off again"),
        ("sttn", [SMALL, SMALL], "inpainting", "Works at 432x240: 2 items are resized to that, and the results back."),
        ("sttn", [SMALL], "inpainting", "Grows the hole by itself (cross 4)"),
        ("diffueraser", [SMALL], "inpainting", "Blends its result into known pixels around the hole."),
        ("rose", [SMALL], "removal", "Two runs differ: it takes no seed."),
        ("rose", [SMALL], "removal", "Gives whole frames of its own"),
    ],
)
def test_a_departure_is_told(name: str, shapes: list[Shape], task: Task, words: str) -> None:
    assert words in told(name, *shapes, task=task)


def test_what_is_as_published_is_not_told() -> None:
    assert told("lama", HD, SMALL) == ""
    whole = Shape(432, 240, 49, blanked=False)
    assert "finds" not in told("rose", whole, task="removal")
    assert "resized" not in told("sttn", whole)
    assert "prompt" not in told("vace", whole, task="editing")
    assert "repeated" not in told("vace", whole)


def test_windows_are_told() -> None:
    rule = FramesRule(step=4, offset=1, max=81, overlap=9)
    layout = layouts()["vace"].model_copy(update={"frames_rule": rule})
    words = " ".join(departures(layout, [HD, HD, SMALL], task="inpainting", divisor=16))
    assert "2 items are longer than it takes: it fills windows that share 9 frames." in words
