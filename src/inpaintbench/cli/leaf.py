"""`inpaintbench leaf`: try what every leaf of a kind has to do on a leaf of one's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Annotated, Any

from inpaintbench.catalogue import Catalogue, Leaf, attribute_at, joined, unknown_name
from inpaintbench.cli import console
from inpaintbench.cli.commands import group
from inpaintbench.cli.options import option
from inpaintbench.cli.words import check_constants
from inpaintbench.contracts import checks_of, outcomes
from inpaintbench.errors import InpaintBenchError, InputError, UsageError

# Kinds with a contract -> their catalogue.
CATALOGUES: Mapping[str, str] = {
    "attribute": "inpaintbench.curation.attributes:ATTRIBUTES",
    "axis": "inpaintbench.masks.axes:AXES",
    "flow": "inpaintbench.eval.flows:FLOWS",
    "layout": "inpaintbench.export.layouts:LAYOUTS",
    "mask generator": "inpaintbench.masks.generators:GENERATORS",
    "method": "inpaintbench.eval.methods:METHODS",
    "metric": "inpaintbench.eval.metrics:METRICS",
    "normalizer": "inpaintbench.curation.normalizers:NORMALIZERS",
    "question": "inpaintbench.annotate.questions:QUESTIONS",
    "source": "inpaintbench.curation.sources:SOURCES",
    "splitter": "inpaintbench.curation.splitters:SPLITTERS",
    **joined("kind of leaf"),
}
# What a kind's leaves are built with besides their constants.
_SHARED: Mapping[str, Mapping[str, Any]] = {"metric": {"regions": ("frame", "hole", "band"), "band_radius_pixels": 8}}


def check(
    address: str,
    constants: list[str] | None = None,
    *,
    kind: Annotated[str | None, option(f"What it is, where it inherits from no base class: {', '.join(CATALOGUES)}.")] = None,
) -> None:
    """Whether a leaf does what every leaf of its kind has to do.

    Args:
        address (MODULE:CLASS): The leaf; its module may lie in the current folder.
        constants ([NAME=VALUE]...): What it is built with.

    Example: inpaintbench leaf check my_metric:MyMetric
    """
    if (here := os.getcwd()) not in sys.path:  # a leaf in the making lies where its author is
        sys.path.insert(0, here)
    try:
        leaf = attribute_at(address)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{address!r} cannot be imported: {error}; a leaf is MODULE:CLASS") from error
    if not isinstance(leaf, type):
        raise InputError(f"{address!r} is no class; a leaf is MODULE:CLASS")
    leaves = _catalogue_of(leaf, address, kind)
    admitted, given = leaves.admit(leaf), dict(map(console.constant, constants or ()))
    check_constants(admitted, given, called=f"{leaves.kind} {address!r}")
    try:
        built = admitted(**_SHARED.get(leaves.kind, {}), **given)
    except TypeError as error:
        raise UsageError(f"{leaves.kind} {address!r} cannot be built with {given}: {error}") from error
    results = list(outcomes(checks_of(leaves.kind), built))
    rows = [
        (row.check, "broken" if row.fault else "not tried" if row.skipped else "holds", row.fault or row.skipped or "")
        for row in results
    ]
    console.print_table(f"{leaves.kind} {built.name}", ["what", "found", "why"], rows)
    if faults := [row for row in results if row.fault]:
        raise InpaintBenchError(f"{address} breaks {len(faults)} of {len(results)} rules of its kind: {faults[0].check}")


def _catalogue_of(leaf: type, address: str, kind: str | None) -> Catalogue[type[Leaf]]:
    if kind is not None and kind not in CATALOGUES:
        raise InputError(unknown_name("kind of leaf", kind, CATALOGUES))
    bases = {str(base.__module__): base for base in leaf.__mro__}
    for name, place in CATALOGUES.items():
        leaves: Catalogue[type[Leaf]] = attribute_at(place)
        if name == kind or (kind is None and str(leaves.base).partition(":")[0] in bases):
            return leaves
    raise InputError(f"{address!r} inherits from no base class of a kind; say with --kind what it is: {', '.join(CATALOGUES)}")


app = group({"check": "inpaintbench.cli.leaf:check"}, help="Try leaves of your own, such as metrics, methods, questions.")
