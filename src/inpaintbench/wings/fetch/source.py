"""Footage that a fetcher brought into the workspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inpaintbench.curation.facts import uri_of
from inpaintbench.curation.sources.base import Footage, SourceLeaf, local_file, quoted_path, unquoted_path
from inpaintbench.errors import InputError, Rejected
from inpaintbench.storage import Address, place
from inpaintbench.types import Download, content_id
from inpaintbench.wings.fetch.step import INCOMPLETE, listings, rows_of
from inpaintbench.workspace import Workspace, proved_path


class FetchedSource(SourceLeaf):
    """Every file of what was last asked for from a network, in name order; numbers and words that were listed with it are known
    as ``source.<name>``. What an earlier fetch obtained and a later one of the same leaf and label did not ask for is left out.

    Args:
        workspace: path of the workspace.
        fetcher: what this fetcher leaf brought; empty = all that was fetched into the workspace.
        label: as it was given to the fetch.

    Raises:
        InputError: nothing was fetched into it.
        WorkspaceError: it is no workspace.
    """

    name = "fetched"
    version = "1"

    def __init__(self, *, workspace: str, fetcher: str = "", label: str = "") -> None:
        self._path, self._fetcher, self._label = Path(workspace), fetcher, label

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a file; its content is judged by the file's hash and by what is known of its author."""
        workspace = Workspace(self._path, create=False)
        rows: dict[str, Download] = {}
        asked = (
            [(self._fetcher, self._label)]
            if self._fetcher
            else [(listing.leaf, listing.label) for listing in listings(workspace)]
        )
        for leaf, label in asked:
            for row in rows_of(workspace, leaf, label, earlier=False):
                if row.status == "obtained" and row.blob:
                    rows.setdefault(uri_of(row.fetcher, row.name), row)
        if not rows:
            raise InputError(f"nothing was fetched into {str(self._path)!r}; see `inpaintbench curation fetch --help`")
        for uri, row in sorted(rows.items()):
            path = workspace.blobs.place(str(row.blob))
            yield Footage(
                name=uri,
                uri=uri,
                origin=self.name,
                content=content_id(row.sha256, row.licence, row.author, row.page_url),
                payload={"path": quoted_path(str(path))},
                licence=row.licence,
                author=row.author,
                page_url=row.page_url,
                known={f"source.{name}": value for name, value in row.details.items() if _is_fact(name, value)},
            )

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:  # noqa: ARG002 - nothing to make
        """The file where it lies.

        Raises:
            Rejected: it is not there any more.
        """
        where = place(unquoted_path(payload["path"]), listed=True)
        if isinstance(where, Address):  # of a workspace there
            return local_file(payload["path"])
        path = str(where)
        if not Path(path).is_file():
            raise Rejected("the fetched file is not in the workspace any more; fetch again")
        return str(proved_path(path))


def _is_fact(name: str, value: object) -> bool:
    return name != INCOMPLETE and isinstance(value, int | float | str) and not isinstance(value, bool)
