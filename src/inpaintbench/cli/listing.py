"""`eval list`: methods, metrics and protocols, all or what applies to a dataset."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from inpaintbench import frozen
from inpaintbench.catalogue import unknown_name
from inpaintbench.cli import completing, console
from inpaintbench.cli.console import AsJson, print_json
from inpaintbench.cli.options import Among, option
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS, Applicable

KINDS = ("methods", "metrics", "protocols")
Row = dict[str, Any]


def list_leaves(
    kind: Annotated[str | None, Among(KINDS)] = None,
    word: str | None = None,
    *,
    dataset: Annotated[
        Path | None, option("Only what applies to this frozen dataset.", "--for", metavar="DATASET", parser=completing.dataset)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List methods, metrics and protocols. Name a kind, a word to look for, or a dataset to see less.

    Args:
        kind (KIND): One of: {names}. [default: all]
        word (WORD): Only what has this in its name or sentence. [default: everything]

    Example: inpaintbench eval list metrics flow
    """
    if kind is not None and kind not in KINDS:
        if word is not None:
            raise UnknownNameError(unknown_name("kind", kind, list(KINDS)))
        kind, word = None, kind
    applies = Applicable(frozen.load(dataset)) if dataset else None
    listed = {name: LISTS[name](applies) for name in KINDS if kind in (None, name)}
    matching = {name: [row for row in rows if word is None or _mentions(row, word)] for name, rows in listed.items()}
    if word is not None and not any(matching.values()):
        raise UnknownNameError(f"nothing has {word!r} in its name or sentence; the kinds are {', '.join(KINDS)}")
    if as_json:
        print_json(matching)
        return
    for name, rows in matching.items():
        if rows:
            console.print_table(name.capitalize(), ["name", "metrics" if name == "protocols" else "what"], map(_shown, rows))


def _methods(applies: Applicable | None) -> list[Row]:
    return [{"name": name, "what": _sentence(METHODS.get(name))} for name in METHODS if applies is None or applies.method(name)]


def _metrics(applies: Applicable | None) -> list[Row]:
    leaves = {name: METRICS.get(name) for name in METRICS if applies is None or applies.metric(name)}
    return [{"name": name, "unit": leaf.unit, "better": _better(leaf), "what": _sentence(leaf)} for name, leaf in leaves.items()]


def _protocols(applies: Applicable | None) -> list[Row]:
    return [
        {"name": name, "metrics": protocol.metrics, "fingerprint": protocol.fingerprint}
        for name, protocol in ((name, PROTOCOLS.get(name)) for name in PROTOCOLS)
        if applies is None or applies.protocol(protocol)
    ]


LISTS: Mapping[str, Callable[[Applicable | None], list[Row]]] = {
    "methods": _methods, "metrics": _metrics, "protocols": _protocols,
}  # fmt: skip


def _mentions(row: Row, word: str) -> bool:
    return any(word.casefold() in text.casefold() for text in (row["name"], row.get("what", ""), *row.get("metrics", ())))


def _shown(row: Row) -> tuple[str, str]:
    """Two columns, which fit a narrow terminal: the name, and the first sentence with what numbers mean."""
    if "metrics" in row:
        return row["name"], f"{', '.join(row['metrics'])} ({row['fingerprint']})"
    first = re.split(r"(?<=[^.]\.)\s(?=[A-Z])", row["what"])[0]
    if "unit" not in row:
        return row["name"], first
    better = row["better"] if row["better"] == "not ranked" else f"{row['better']} is better"
    return row["name"], f"{first.removesuffix('.')} ({', '.join(filter(None, (row['unit'], better)))})"


def _sentence(leaf: Any) -> str:
    return " ".join((leaf.__doc__ or "").split("\n\n")[0].replace("``", "").split())


def _better(leaf: Any) -> str:
    if not leaf.ranked:
        return "not ranked"
    return "higher" if leaf.higher_is_better else "lower"
