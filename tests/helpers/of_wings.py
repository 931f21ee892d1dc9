"""Which names of a catalogue the core brings, and which the wings."""

from __future__ import annotations

from typing import Any

from inpaintbench.catalogue import Catalogue


def is_of_a_wing(catalogue: Catalogue[Any], name: str) -> bool:
    return catalogue.addresses()[name].startswith("inpaintbench.wings.")


def names_of_the_core(catalogue: Catalogue[Any]) -> list[str]:
    return [name for name in catalogue if not is_of_a_wing(catalogue, name)]


def names_of_wings(catalogue: Catalogue[Any]) -> list[str]:
    return [name for name in catalogue if is_of_a_wing(catalogue, name)]
