"""Statements about the benchmarks of a recipe wherever one of them is read: its use, its limits, its paper, how it is scored.

The words of a recipe lie beside it, and importing them imports nothing of what builds, so that a dataset can be described and
scored where nothing is built. Packages that add a recipe add its words in the group ``inpaintbench.benchmark``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from inpaintbench.catalogue import Catalogue, attribute_at, joined, tables_at
from inpaintbench.types import Dataset


@dataclass(frozen=True)
class Paper:
    """A paper; what its text does not state is not here."""

    key: str
    kind: str
    """Kind of BibTeX entry."""
    title: str
    """Empty where nobody stated it."""
    fields: Mapping[str, str]
    """Further fields of the entry, in order."""

    @property
    def bibtex(self) -> str:
        """The entry, one field a line."""
        fields = {**({"title": f"{{{self.title}}}"} if self.title else {}), **self.fields}
        width = max(map(len, fields))
        lines = [f"  {name:<{width}} = {{{value}}}," for name, value in fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


@dataclass(frozen=True)
class Benchmark:
    """Statements about every benchmark of one recipe."""

    use: str = "Finding out which content a method fails on."
    """Purpose, a sentence."""
    limits: tuple[str, ...] = ()
    """Limits of what it can tell, a sentence or two each."""
    paper: Paper | None = None
    """The paper whose benchmark it re-creates."""
    protocol: str = ""
    """Protocol that it is scored under unless another is asked for; empty = by what its items are."""
    baseline: str = "telea"
    """A method that needs no weights, for the example of how to predict."""
    generated: Mapping[str, str] = field(default_factory=dict)
    """Source leaf of the recipe -> what its footage is, where it is none of the world."""
    extends: tuple[str, ...] = ()
    """Source leaves of the recipe that take a data set of others, rather than footage."""
    unpaired_protocol: str = ""
    """The same where nobody has the truth of any item."""
    whole_frames: bool = False
    """Whether methods are judged on what they do outside the hole too, so that whole frames are kept of them."""
    scored_besides: str = ""
    """The beginning of a command that runs methods on their own results, under second masks where a dataset has any, and scores
    that too, such as ``inpaintbench eval run --for ...``; empty = there is none."""


# The recipes lie above this module, so they are named by their address, as leaves are.
BENCHMARKS: Catalogue[Benchmark] = Catalogue(
    "benchmark",
    dict.fromkeys(attribute_at("inpaintbench.recipes:NAMES"), "inpaintbench.recipes:about.toml"),
    reads="inpaintbench.benchmarks:benchmarks_in",
)


@lru_cache
def benchmarks_in(address: str) -> dict[str, Benchmark]:
    """Name -> what the file ``package:FILE.toml`` says of a recipe's benchmarks, whose ``paper`` is the key of one in it."""
    from pydantic import TypeAdapter  # which most commands do without

    tables = tables_at(address)
    for stated in tables["benchmarks"].values():
        if key := stated.get("paper"):
            stated["paper"] = {"key": key, **tables["papers"][key]}
    return TypeAdapter(dict[str, Benchmark]).validate_python(tables["benchmarks"])


def benchmark_of(dataset: Dataset) -> Benchmark:
    """Return what is said of a dataset's recipe; of a recipe that nobody here knows, what holds of all."""
    name = str(dataset.recipe.get("recipe"))
    return BENCHMARKS.get(name) if name in BENCHMARKS else Benchmark()


@dataclass(frozen=True)
class Drawn:
    """What is said of footage that a source leaf draws, which shows nothing of the world."""

    apart: str
    """Why near-duplicates are not looked for among its clips."""
    called: str = ""
    """What its sources are, which are too many to name; empty = a notice names each."""
    of_seed: bool = False
    """Whether the recipe's seed alone gives every truth again."""


@lru_cache
def drawn_footage() -> dict[str, Drawn]:
    """Source leaf -> what is said of its footage, of those that draw it."""
    people = Drawn("every picture is drawn from a number of its own; 1 pair of 31,375 looks alike by chance")
    of_wings = {name: Drawn(**tables_at(address)["drawn"][name]) for name, address in joined("drawn footage").items()}
    return of_wings | {"drawn_people": people}
