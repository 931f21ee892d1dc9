"""EditBoard, AAAI 2025, from a list of edited videos: what is wrong with it, its scores, the transcript and its plots."""

from __future__ import annotations

from collections.abc import Mapping

JOINS: Mapping[str, Mapping[str, str]] = {
    "recipe": {"editing": "inpaintbench.wings.editboard.recipe:EditingRecipe"},
    "benchmark": {"editing": "inpaintbench.wings.editboard:about.toml"},
    "command of build": {"editing": "inpaintbench.wings.editboard.commands:build_editing"},
    "protocol": {
        "editboard/as-published": "inpaintbench.wings.editboard:protocols.toml",
        "editboard/as-published-gif": "inpaintbench.wings.editboard:protocols.toml",
        "editboard/paper": "inpaintbench.wings.editboard:protocols.toml",
        "editboard/corrected": "inpaintbench.wings.editboard:protocols.toml",
    },
    "study": {"editboard": "inpaintbench.wings.editboard:study.toml"},
    "layout": {"editboard": "inpaintbench.wings.editboard.layout:Editboard"},
    "command of eval": {
        "run --for edits": "inpaintbench.wings.editboard.commands:editboard",
        "report --for transcript": "inpaintbench.wings.editboard.commands:transcript",
    },
    "former command of eval": {"editboard": "eval run --for edits", "transcript": "eval report --for transcript"},
}
