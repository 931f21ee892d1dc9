"""What a model is asked about clips whose text was to be removed."""

from __future__ import annotations

from inpaintbench.eval.judging import Choice, Questions, Scale

QUESTIONS = Questions(
    shown="Each picture shows one moment of a clip twice. Left: the clip with text drawn on it. Right: the result of a program "
    "that was to remove the text.",
    questions=(
        Choice(
            name="text",
            kind="choice",
            text="In the right halves, what is left of the text that was drawn on the clip?",
            values={"nothing": 1.0, "traces": 0.5, "readable text": 0.0},
        ),
        Scale(
            name="natural",
            kind="scale",
            text="How natural does the place look where the text was? 1 is clearly wrong, 5 cannot be told from a photograph.",
            steps=5,
        ),
    ),
)
