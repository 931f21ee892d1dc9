"""Files whose addresses stand in a list of the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from inpaintbench.catalogue import unknown_name
from inpaintbench.download import Limits, ask, download, utc_now
from inpaintbench.errors import UnknownNameError
from inpaintbench.wings.fetch.base import Candidate, Fetched, Fetcher, Licence
from inpaintbench.wings.fetch.lists import listed

MEDIA = ["video", "image"]


class UrlList(Fetcher):
    """Every address of a list, once each, in the list's order.

    The list is CSV, TSV, JSON lines or Parquet with the column ``url`` and, where they are known, ``licence``, ``licence_url``,
    ``author``, ``page`` and ``title``; further columns are kept as facts for rules. A ``.txt`` list holds an address a line.

    Args:
        list: path of the list; read where candidates are listed, not where they are fetched.
        media: ``video`` or ``image``: what the files are.
        allow_private, allow_hosts, allow_nets: hosts of one's own network that are asked for licences again, as in ``Limits``.

    Raises:
        InputError: no such kind of media.
    """

    name = "urls"
    version = "1"
    reads_list = True

    def __init__(
        self, *, list: str, media: str = "video", allow_private: bool = False,  # noqa: A002 - what people say
        allow_hosts: Sequence[str] = (), allow_nets: Sequence[str] = (),
    ) -> None:  # fmt: skip
        if media not in MEDIA:
            raise UnknownNameError(unknown_name("kind of media", media, MEDIA))
        self._list, self.media = Path(list), media
        self._limits = Limits(allow_private=allow_private, allow_hosts=tuple(allow_hosts), allow_nets=tuple(allow_nets))

    def candidates(self) -> Iterator[Candidate]:
        """Every address of the list; lines that hold none are refused.

        Raises:
            InputError: the list cannot be read, or holds no address.
        """
        return listed(self._list, version=self.version)

    def fetch(self, candidate: Candidate, *, part: Path, limits: Limits) -> Fetched:
        """Download it."""
        return Fetched(part, download(candidate.url, part, limits=limits))

    def licence_of(self, candidate: Candidate) -> Licence:
        """The list's word; the server is asked whether the file is still there."""
        ask(candidate.url, limits=self._limits)
        return Licence(candidate.licence, candidate.licence_url, checked_at=utc_now())
