"""Published benchmarks by name: from the data of a paper to the next row of its table, one file of facts a benchmark."""

from __future__ import annotations

from collections.abc import Mapping

JOINS: Mapping[str, Mapping[str, str]] = {
    "command": {"bench": "inpaintbench.wings.named.commands:app"},
    "sentence of command": {"bench": "A published benchmark: from its data to its table."},
    "metric": {
        "five_yn": "inpaintbench.wings.named.judges:FiveYesNo",
        "five_mc": "inpaintbench.wings.named.judges:FiveChoice",
        "five_union": "inpaintbench.wings.named.judges:FiveUnion",
        "five_intersection": "inpaintbench.wings.named.judges:FiveIntersection",
        "five_acc": "inpaintbench.wings.named.judges:FiveAccuracy",
        "core_object": "inpaintbench.wings.named.judges:CoreObject",
        "core_effects": "inpaintbench.wings.named.judges:CoreEffects",
    },
    "protocol": {
        "judge/five": "inpaintbench.wings.named:protocols.toml",
        "judge/core": "inpaintbench.wings.named:protocols.toml",
    },
}
