"""Name -> leaf, imported only when asked for, with suggestions for misspelt names.

A room lists its leaves as ``Catalogue("metric", {"psnr": "inpaintbench.eval.metrics.psnr:Psnr"})``. Packages outside this
one add leaves through entry points in the group ``inpaintbench.<kind>`` (spaces as ``_``); reusing a name is an error, not an
override.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

from inpaintbench.errors import InpaintBenchError, UnknownNameError


class Catalogue:
    """The leaves of one kind."""

    def __init__(self, kind: str, leaves: Mapping[str, str]) -> None:
        self.kind = kind
        self._own = dict(leaves)
        self._found: dict[str, str] | None = None

    def __iter__(self) -> Iterator[str]:
        return iter(self.addresses())

    def __contains__(self, name: object) -> bool:
        return name in self.addresses()

    def addresses(self) -> dict[str, str]:
        """Every name with its ``module:Class`` address; own leaves first, then those of other packages."""
        if self._found is None:  # looked up once: scanning the installed packages takes 20 ms
            found = dict(self._own)
            for point in entry_points(group=f"inpaintbench.{self.kind.replace(' ', '_')}"):
                if point.name in found:
                    raise InpaintBenchError(
                        f"{self.kind} {point.name!r} of {point.value} is already taken by {found[point.name]}"
                    )
                found[point.name] = point.value
            self._found = found
        return dict(self._found)

    def get(self, name: str) -> Any:
        """The class of the leaf ``name``.

        Raises:
            UnknownNameError: no such leaf; the text suggests the nearest name.
        """
        addresses = self.addresses()
        if name not in addresses:
            raise UnknownNameError(unknown_name(self.kind, name, addresses))
        module, _, attribute = addresses[name].partition(":")
        return getattr(importlib.import_module(module), attribute)


def unknown_name(kind: str, name: str, known: Iterator[str] | Mapping[str, Any] | list[str]) -> str:
    """One sentence for a name that is not among ``known``, with the nearest one or the whole list."""
    names = list(known)
    nearest = difflib.get_close_matches(name, names, n=1)
    way_out = f"did you mean {nearest[0]!r}?" if nearest else f"choose from {', '.join(sorted(names))}"
    return f"unknown {kind} {name!r}, {way_out}"
