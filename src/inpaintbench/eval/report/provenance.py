"""What the numbers rest on, ready to be copied: dataset, protocol, versions, and the commands that make the report again."""

from __future__ import annotations

import json
import shlex
from collections import Counter

from inpaintbench import frozen
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.report.tables import NOT_SCORED, Results
from inpaintbench.eval.scoring.run_state import NOT_RUN
from inpaintbench.pages.words import count


def facts_of(results: Results) -> dict[str, str]:
    """Name -> fact, lines of which may be several."""
    dataset = results.dataset
    versions = "\n".join(f"{name} {version}" for name, version in sorted(dataset.versions.items()))
    return {
        "Dataset": f"{dataset.name} {dataset.version}",
        "SHA-256 of its manifest": manifest_sha256(results),
        "Protocol": results.protocol.name,
        "Fingerprint of the protocol": results.fingerprint,
        "Versions that made the dataset": versions or "not stated",
    }


def manifest_sha256(results: Results) -> str:
    """The hash that the dataset's manifest states of itself."""
    fields = json.loads(frozen.manifest_bytes(results.dataset))
    return str(fields[frozen.OWN_HASH])


def commands_of(results: Results) -> list[str]:
    """Commands that predict, score and report with the methods called as they are here."""
    methods = " ".join(map(_option, results.methods))
    protocol = f"--protocol {shlex.quote(results.protocol.name)}"
    return [
        f"inpaintbench eval predict DATASET --run RUN {methods}",
        f"inpaintbench eval score DATASET --run RUN {protocol}",
        f"inpaintbench eval report DATASET --run RUN {protocol}",
    ]


def unfinished(results: Results) -> list[str]:
    """A sentence for each method that was not run, or not scored, on all items, with the command that goes on."""
    items, protocol = len(results.sources), f"--protocol {shlex.quote(results.protocol.name)}"
    lacking = Counter((one.method, one.reason) for one in results.failures() if one.quantities == results.quantities)
    sentences = []
    for (method, reason), n in lacking.items():
        if reason in (NOT_RUN, NOT_SCORED):
            ran = reason == NOT_RUN
            command = f"eval predict DATASET --run RUN {_option(method)}" if ran else f"eval score DATASET --run RUN {protocol}"
            done = f"{method} was {'run' if ran else 'scored'} on {items - n:,} of {count(items, 'item')}"
            sentences.append(f"{done}; `inpaintbench {command}` continues it.")
    return sentences


def _option(method: str) -> str:
    return f"--method {shlex.quote(method)}" if method in METHODS else f"--saved {shlex.quote(method)}=FOLDER"
