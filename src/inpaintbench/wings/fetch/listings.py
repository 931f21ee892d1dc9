"""Places that a workspace's footage was fetched from, kept so that their licences can be asked for again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from inpaintbench.errors import WorkspaceError
from inpaintbench.files import write_atomically
from inpaintbench.types import Plain, canonical_json
from inpaintbench.workspace import Workspace

_FOLDER = "fetching"


@dataclass(frozen=True)
class Listing:
    """One place that footage was fetched from."""

    leaf: str
    label: str
    """Tells two lists of one leaf apart; empty where there is one."""
    constants: Plain
    """Constructor arguments of the leaf; no keys or secrets are among them."""


def step_name(leaf: str, label: str = "") -> str:
    """The step that fetches with a leaf."""
    return f"fetch.{leaf}" + (f".{label}" if label else "")


def remember(workspace: Workspace, listing: Listing) -> None:
    """Keep a listing; another one of the same leaf and label is replaced."""
    path = workspace.path / _FOLDER / f"{step_name(listing.leaf, listing.label)}.json"
    write_atomically(path, canonical_json(asdict(listing)).encode() + b"\n")


def listings(workspace: Workspace) -> list[Listing]:
    """Everything that was fetched into a workspace, in name order.

    Raises:
        WorkspaceError: a file of it is damaged.
    """
    kept_listings = []
    for path in sorted((workspace.path / _FOLDER).glob("*.json")):
        try:
            kept_listings.append(Listing(**json.loads(path.read_text())))
        except (ValueError, TypeError) as error:
            raise WorkspaceError(f"{str(path)!r} is damaged: {error}") from error
    return kept_listings
