"""EditBoard, AAAI 2025, from a list of edited videos: what is wrong with it, its scores, the transcript and its plots."""

from __future__ import annotations

from collections.abc import Mapping

JOINS: Mapping[str, Mapping[str, str]] = {
    "recipe": {"editing": "inpaintbench.wings.editboard.recipe:EditingRecipe"},
    "benchmark": {"editing": "inpaintbench.wings.editboard.protocol:EDITING"},
    "command of build": {"editing": "inpaintbench.wings.editboard.commands:build_editing"},
    "protocol": {
        "editboard/as-published": "inpaintbench.wings.editboard.protocol:AS_PUBLISHED",
        "editboard/as-published-gif": "inpaintbench.wings.editboard.protocol:AS_PUBLISHED_GIF",
        "editboard/paper": "inpaintbench.wings.editboard.protocol:PAPER",
        "editboard/corrected": "inpaintbench.wings.editboard.protocol:CORRECTED",
    },
    "study": {"editboard": "inpaintbench.wings.editboard:study.toml"},
    "layout": {"editboard": "inpaintbench.wings.editboard.layout:Editboard"},
    "command of eval": {
        "run --for edits": "inpaintbench.wings.editboard.commands:editboard",
        "report --for transcript": "inpaintbench.wings.editboard.commands:transcript",
    },
    "former command of eval": {"editboard": "eval run --for edits", "transcript": "eval report --for transcript"},
}
