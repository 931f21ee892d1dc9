"""The contract of fetchers, whatever network they reach."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from inpaintbench import contracts
from inpaintbench.contracts import Check, NotChecked, require
from inpaintbench.download import Limits
from inpaintbench.errors import Gone, InputError, NetworkError, Rejected
from inpaintbench.files import file_sha256
from inpaintbench.wings.fetch.base import Candidate, Fetcher, Licence

# Candidates that are listed; a place may hold millions.
_MOST = 20
# Of the one file that is fetched: 64 MiB, two minutes, no second try.
LIMITS = Limits(most_bytes=64 << 20, seconds=120.0, tries=1)


def states_its_facts(fetcher: Fetcher) -> None:
    """Name, version, documentation, and the kind of its files."""
    contracts.states_its_facts(fetcher, "media")
    require(fetcher.media in ("video", "image"), f"its media is {fetcher.media!r}, not 'video' or 'image'")


def lists_the_same_candidates_twice(fetcher: Fetcher) -> None:
    """In the same order, each under a name of its own, as data that can be sent to a worker."""
    first, second = (_candidates(fetcher) for _ in range(2))
    require(first == second, "the second time it lists other candidates")
    names = [candidate.name for candidate in first]
    require(len(set(names)) == len(names), f"two candidates are called {max(names, key=names.count)!r}")
    for candidate in first:
        json.dumps(asdict(candidate), allow_nan=False)
        require(candidate.name and candidate.url and candidate.content, f"{candidate} lacks its name, url or content")


def brings_the_first_file_and_its_licence(fetcher: Fetcher) -> None:
    """A file at or beside the path that it was given, as large and with the digest that it states."""
    candidate = _candidates(fetcher)[0]
    with tempfile.TemporaryDirectory(prefix="inpaintbench-") as folder:
        part = Path(folder, "part")
        try:
            fetched = fetcher.fetch(candidate, part=part, limits=LIMITS)
            licence = fetcher.licence_of(candidate)
        except (Gone, NetworkError, Rejected) as error:
            raise NotChecked(f"{candidate.name} cannot be had: {error}") from error
        beside = fetched.path.parent == part.parent and fetched.path.name.startswith(part.name)
        require(
            beside and fetched.path.is_file(), f"of {candidate.name} it gives {fetched.path}, no file that begins like {part}"
        )
        stated, actual = (
            (fetched.received.bytes, fetched.received.sha256),
            (fetched.path.stat().st_size, file_sha256(fetched.path)),
        )
        require(stated == actual, f"it states bytes and digest {stated} of a file with {actual}")
    require(isinstance(licence, Licence), f"the licence of {candidate.name} is {licence!r}, no Licence")


CHECKS: tuple[Check, ...] = (states_its_facts, lists_the_same_candidates_twice, brings_the_first_file_and_its_licence)


def _candidates(fetcher: Fetcher) -> list[Candidate]:
    try:
        candidates = list(islice(fetcher.candidates(), _MOST))
    except (InputError, NetworkError) as error:
        raise NotChecked(f"its place cannot be listed: {error}") from error
    if not candidates:
        raise NotChecked("it has no candidates; give the constants that name some")
    return candidates
