"""What a paper cites: this program, the dataset, the benchmark's paper, metrics, methods and networks."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import inpaintbench
from inpaintbench.benchmarks import Paper, benchmark_of
from inpaintbench.eval.adapters.layouts import layout_of, presets
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.frozen import dataset_id
from inpaintbench.lazily import lazily
from inpaintbench.manifest import own_hash
from inpaintbench.models import weights
from inpaintbench.pages.tables import escaped
from inpaintbench.types import Dataset

yaml = lazily("yaml")

_CITATION = "CITATION.cff"
_GITHUB = "https://github.com/"  # whose names presets state
_LEAD = "% Written by inpaintbench from what it and the dataset state; add the fields that your style asks for.\n"


def tool_entry() -> str:
    """This program in BibTeX, from its CITATION.cff."""
    place = Path(inpaintbench.__file__).parents[2] / _CITATION
    if not place.is_file():  # no clone: whoever installed the wheel knows where it lies
        place = next(Path(str(one.locate())) for one in metadata.files("inpaintbench") or () if one.name == _CITATION)
    told = yaml.safe_load(place.read_text())
    names = " and ".join(f"{{{one['name']}}}" if "name" in one else _person(one) for one in told["authors"])
    note = f"Version {told['version']}, {told['license']}"
    return Paper("inpaintbench", "misc", escaped(told["title"]), {"author": names, "note": note}).bibtex


def _person(one: Mapping[str, str]) -> str:
    return f"{one['family-names']}, {one['given-names']}"


def references(dataset: Dataset, protocol: Protocol, metrics: Iterable[str], methods: Sequence[MethodSpec]) -> str:
    """A file for BibTeX.

    Args:
        dataset: the manifest.
        protocol: of the scores; its networks are cited by the files of their parameters.
        metrics: names of those that are shown.
        methods: what made the results; presets are cited by the repository that they run.
    """
    names = list(dict.fromkeys(metrics))
    entries = [tool_entry(), _dataset_entry(dataset)]
    if (paper := benchmark_of(dataset).paper) is not None:
        entries.append(paper.bibtex)
    if protocol.follows:
        note = escaped(f"{protocol.name} follows {protocol.follows}")
        entries.append(Paper("protocol", "misc", escaped(f"Protocol {protocol.name}"), {"note": note}).bibtex)
    used = {*(f"metric:{name}" for name in names), *(f"method:{one.leaf}" for one in methods)}
    for key, fact in facts().items():
        # DEVIL's paper is that of its benchmark, too.
        if used.intersection(fact["of"]) and not (paper and paper.title == fact.get("title")):
            further = {name: str(fact[name]) for name in fact if name not in ("of", "title")}
            entries.append(Paper(key, "misc", fact.get("title", ""), further).bibtex)
    for name in dict.fromkeys(str(one.constants.get("layout")) for one in methods):
        if name in presets() and (run := layout_of(name)).home:
            note = escaped(f"Commit {run.commit or 'not stated'}, licence {run.licence or 'not stated'}")
            entries.append(Paper(f"program-{name}", "misc", escaped(run.title), {"note": note, "url": _GITHUB + run.home}).bibtex)
    for name in protocol.weights_of([name for name in names if name in protocol.metrics]):
        known = weights.named(name)
        note = escaped(f"File {known.file}, SHA-256 {known.sha256[:16]}..., licence {known.licence}")
        fields = {"note": note, **({"url": known.origin} if known.origin else {})}
        entries.append(Paper(f"weights-{name}", "misc", escaped(f"Parameters {name}"), fields).bibtex)
    return _LEAD + "\n" + "\n\n".join(entries) + "\n"


def facts() -> dict[str, dict[str, Any]]:
    """Key -> what is stated of a publication, and of which leaves it is."""
    return tomllib.loads(resources.files(__package__).joinpath("references.toml").read_text())


def _dataset_entry(dataset: Dataset) -> str:
    """As its publisher asks, else by name, version and hash."""
    told: Mapping[str, Any] = dataset.facts.get("dataset") or {}
    cited = str(told.get("citation") or "").strip()
    if cited.startswith("@"):
        return cited
    words = escaped(cited) if cited else f"Manifest SHA-256 {own_hash(dataset)[:16]}..."
    fields = {"note": words, **({"url": str(told["homepage"])} if told.get("homepage") else {})}
    return Paper("dataset", "misc", escaped(f"Dataset {dataset_id(dataset)}"), fields).bibtex
