"""Name -> leaf, imported only when asked for, with suggestions for misspelt names.

A room lists its leaves as ``Catalogue("metric", {"psnr": "inpaintbench.eval.metrics.psnr:Psnr"})``. What serves one paper or one
kind of user stands in a folder of ``inpaintbench.wings``, which states in ``JOINS`` what it adds to which kind: deleting the
folder takes away that and nothing else. Packages outside this one add leaves through entry points in the group
``inpaintbench.<kind>`` (spaces as ``_``); reusing a name is an error, not an override.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import pkgutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, TypeVar

from inpaintbench.errors import InpaintBenchError, UnknownNameError


@dataclass(frozen=True)
class Deviation:
    """One difference from a publication; all texts are Markdown without line ends."""

    what: str
    """The quantity or the rule, in a few words."""
    published: str
    """Practice of the paper or its released code; "not stated" where neither says it."""
    here: str
    effect: str
    """Effect on numbers: which way, and how far where it was measured."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Constants of the leaf (fields of the recipe) with which it holds; none = always."""


def holding(stated: Sequence[Deviation], constants: Mapping[str, Any]) -> Sequence[Deviation]:
    """Those of the ``stated`` deviations of a leaf that hold when it is built with ``constants``."""
    return [one for one in stated if all(constants.get(name) == value for name, value in one.where.items())]


T_co = TypeVar("T_co", covariant=True)
Value = TypeVar("Value")


class Leaf:
    """Members that every leaf has; the base class of its kind says what else, with a default for everything that few leaves
    need.
    """

    name: str
    version: str
    """Changes whenever the same input could give another result."""
    deviations: Sequence[Deviation] = ()
    """Differences from the publication that it follows."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if cls.__init__ is not object.__init__ and not hasattr(cls.__init__, "is_bounded"):
            from inpaintbench.ranges import bounded

            cls.__init__ = bounded(cls.__init__)  # type: ignore[method-assign]

    @classmethod
    def bases_for(cls, leaf: type) -> tuple[type[Leaf], ...]:  # noqa: ARG003 - kinds with several bases look at it
        """The base classes whose defaults a ``leaf`` gets that inherits from none."""
        return (cls,)


class Catalogue(Generic[T_co]):
    """The leaves of one kind: classes, or for protocols the protocols themselves.

    Args:
        kind: in words, for errors.
        leaves: name -> ``module:Class``.
        base: ``module:Class`` of the kind's base class, from which a leaf that does not inherit gets what it leaves out.
        reads: ``module:NAME`` of what makes name -> leaf of a file, of a kind whose leaves are data: their address is
            ``package:FILE.toml``.
    """

    def __init__(self, kind: str, leaves: Mapping[str, str], *, base: str | None = None, reads: str | None = None) -> None:
        self.kind, self.base, self.reads = kind, base, reads
        self._own = dict(leaves)
        self._addresses: dict[str, str] | None = None
        self._admitted: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self.addresses())

    def __contains__(self, name: object) -> bool:
        return name in self._known()

    def addresses(self) -> dict[str, str]:
        """Every name with its ``module:Class`` address; own leaves first, then those of the wings and of other packages."""
        return dict(self._known())

    def _known(self) -> dict[str, str]:
        if self._addresses is None:
            addresses = {**self._own, **joined(self.kind)}
            for point in entry_points(f"inpaintbench.{self.kind.replace(' ', '_')}"):
                if point.name in addresses:
                    raise InpaintBenchError(
                        f"{self.kind} {point.name!r} of {point.value} is already taken by {addresses[point.name]}"
                    )
                addresses[point.name] = point.value
            self._addresses = addresses
        return self._addresses

    def get(self, name: str) -> T_co:
        """The leaf ``name``.

        Raises:
            UnknownNameError: no such leaf; the text suggests the nearest name.
        """
        addresses = self._known()
        if name not in addresses:
            raise UnknownNameError(unknown_name(self.kind, name, addresses))
        if self.reads and addresses[name].endswith(".toml"):
            return attribute_at(self.reads)(addresses[name])[name]  # type: ignore[no-any-return]
        leaf = attribute_at(addresses[name])
        return self.admit(leaf) if self.base and isinstance(leaf, type) else leaf

    def admit(self, leaf: Any) -> T_co:
        """The class as a leaf of this kind: itself where it inherits the base, else with the base's members behind its own."""
        base: type[Leaf] = attribute_at(str(self.base))
        if issubclass(leaf, base):
            return leaf  # type: ignore[no-any-return]  # classes of the base are what this catalogue holds
        key = f"{leaf.__module__}:{leaf.__qualname__}"
        if key not in self._admitted:
            names = {name: getattr(leaf, name) for name in ("__module__", "__qualname__", "__doc__")}
            self._admitted[key] = type(leaf.__name__, (leaf, *base.bases_for(leaf)), names)
        return self._admitted[key]  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _points() -> Any:
    return importlib.metadata.entry_points()  # scans the installed packages, which takes 10 ms or more


def entry_points(group: str) -> Any:
    """What installed packages state for one group."""
    return _points().select(group=group)


@lru_cache
def joined(kind: str) -> dict[str, str]:
    """Name -> address of what the wings add to a kind, such as ``metric`` or ``command of eval``, wing by wing."""
    wings = [info.name for info in pkgutil.iter_modules([str(Path(__file__).parent / "wings")])]
    joins = [importlib.import_module(f"{__package__}.wings.{name}").JOINS for name in wings]
    return {name: address for one in joins for name, address in one.get(kind, {}).items()}


def attribute_at(address: str) -> Any:
    """Return what ``module:NAME`` names, imported."""
    module, _, attribute = address.partition(":")
    return getattr(importlib.import_module(module), attribute)


def tables_at(address: str) -> dict[str, Any]:
    """Return the tables of a file that lies in a package, which ``package:FILE.toml`` names."""
    package, _, file = address.partition(":")
    return tomllib.loads(files(package).joinpath(file).read_text(encoding="utf-8"))


def known_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return ``name`` when it is among ``known``, else raise ``UnknownNameError``."""
    names = list(known)
    if name not in names:
        raise UnknownNameError(unknown_name(kind, name, names))
    return name


def pick(kind: str, names: Sequence[str] | None, known: Mapping[str, Value]) -> list[Value]:
    """Those of ``known`` that are named, each once; all of them where none is.

    Raises:
        UnknownNameError: a name that is not among them.
    """
    for name in names or ():
        if name not in known:
            raise UnknownNameError(unknown_name(kind, name, known))
    return [known[name] for name in dict.fromkeys(names or known)]


def unknown_name(kind: str, name: str, known: Iterator[str] | Mapping[str, Any] | list[str]) -> str:
    """One sentence for a name that is not among ``known``, with the nearest one or the whole list."""
    names = list(known)
    family = sorted((leaf for leaf in names if leaf.startswith(f"{name}/")), key=lambda leaf: not leaf.endswith("/corrected"))
    nearest = family or difflib.get_close_matches(name, names, n=1)
    way_out = f"did you mean {nearest[0]!r}?" if nearest else f"choose from {', '.join(sorted(names))}"
    return f"unknown {kind} {name!r}, {way_out}"
