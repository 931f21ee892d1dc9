"""Names of the steps whose tables are read elsewhere: one place for those who write a table and those who read it."""

from __future__ import annotations

# Attributes that sources say of their footage.
KNOWN = "known"
# Attributes that people or files state.
LABELS = "labels"
# Labels of clips that ranks among them give.
LEVELS = "levels"
# Labels of holes, and where a hole is not what its preset promises.
MASK_LEVELS = "mask_levels"
# Table of clips that versions of others are, in a paired design.
AXIS_CLIPS = "axis_clips"
# Levels of items on the axes of a paired design.
AXES_OF_ITEMS = "axes"
# Beginnings of names of attributes there: the level that an item has on an axis, and the group that differs in it alone.
LEVEL_OF, PAIR_OF = "axis.", "pair."
# Attributes of holes.
MEASURED_MASKS = "measure.masks"
# Attributes that say nothing of clips and sources, though there are most of them.
OF_HOLES = (MASK_LEVELS, MEASURED_MASKS, AXES_OF_ITEMS)
# Masks of the objects that edits are about.
OBJECT_MASKS = "object_masks"
# Films with the object that the clips are without.
PAIRED_INPUTS = "paired_inputs"
# What items are called that share a clip.
NAMES = "names"
# Groups of clips of several sources that show the same: near-duplicates, which count as one source.
ALIKE = "alike"
# What the rules say of clips.
SELECT = "select"
# Items, slices, and why a slice has none.
PAIR = "pair"
_PREDICT, _SCORE = "predict.", "score."


def predict_step(label: str) -> str:
    """The step that makes the predictions of a method, and its table."""
    return f"{_PREDICT}{label}"


def predicted_label(step: str) -> str | None:
    """The method's label in the name of a step that predicts; None for other steps."""
    return step.removeprefix(_PREDICT) if step.startswith(_PREDICT) else None


def repeat_step(label: str, *, number: int = 1) -> str:
    """The step that makes some predictions of a method again, for the first or a further time."""
    return f"repeat.{label}" if number == 1 else f"repeat{number}.{label}"


def score_steps(protocol: str) -> str:
    """Return what the steps that score under a protocol are called together."""
    return f"{_SCORE}{protocol.replace('/', '.')}"


def score_step(protocol: str, method: str) -> str:
    """The step that scores a method under a protocol, and its table."""
    return f"{score_steps(protocol)}.{method}"


def check_step(label: str) -> str:
    """The step that tries a method before it runs, and its table."""
    return f"check.{label}"
