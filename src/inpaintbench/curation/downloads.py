"""What is known of footage that was fetched: its name as a source, and what upstream says later of its licence."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote

from inpaintbench.types import Plain
from inpaintbench.workspace import Workspace

CHECKS = "licence_checks"


@dataclass(frozen=True)
class LicenceCheck:
    """Present licence of one obtained piece of footage, by upstream. The proof of then stays in ``downloads``."""

    name: str
    fetcher: str
    status: str
    """``same``; ``changed``; ``gone`` (a tombstone: upstream has it no longer); ``refused`` (upstream does not say); ``unlisted``
    (its whole address is no longer listed, so that nobody could be asked); ``failed`` (for now)."""
    reason: str | None
    """Reason why there is no licence of now; None where there is one."""
    licence_then: str | None
    licence_now: str | None
    licence_url_now: str | None
    licence_history: Plain = field(default_factory=dict)
    """``{"changes": [...]}`` as upstream records them."""
    obtained_at: str | None = None
    checked_at: str | None = None
    """Both UTC, ISO 8601."""

    @property
    def words(self) -> str | None:
        """The change in a few words; None where nothing is known to have changed."""
        outcomes = {"changed": f"changed to {self.licence_now or 'none stated'}", "gone": "gone", "refused": "not told any more",
                "unlisted": "no longer listed"}  # fmt: skip
        return outcomes.get(self.status)


def latest_checks(workspace: Workspace) -> dict[str, LicenceCheck]:
    """Name as a source (see ``uri_of``) -> the last check that got an answer."""
    latest: dict[str, LicenceCheck] = {}
    for check in workspace.table(CHECKS, LicenceCheck):  # earlier ones first, by the names of their tables
        uri = uri_of(check.fetcher, check.name)
        if check.status != "failed" and (uri not in latest or (check.checked_at or "") >= (latest[uri].checked_at or "")):
            latest[uri] = check
    return latest


def uri_of(fetcher: str, name: str) -> str:
    """Return how a download is named as a source: ``<fetcher>/<name>``, percent-encoded."""
    return quote(f"{fetcher}/{name}")
