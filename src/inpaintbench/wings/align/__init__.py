"""Agreement of metrics with people: the protocol of EditBoard (AAAI 2025), with what it leaves open stated and measured."""

from __future__ import annotations

from collections.abc import Mapping

JOINS: Mapping[str, Mapping[str, str]] = {
    "command of eval": {"align": "inpaintbench.wings.align.commands:align_command"},
    "page of a command": {"alignment.html": "alignment"},
    "sentences beside scores": {"align": "inpaintbench.wings.align.agreement:of_results"},
}
