"""Backups while a study is served, for machines whose disk does not last: every minute that brought something, and at the end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from inpaintbench.annotate.journal.backup import backup, restore
from inpaintbench.errors import InpaintBenchError

if TYPE_CHECKING:
    from sqlalchemy import URL

    from inpaintbench.annotate.journal import Journal

_LOG = logging.getLogger(__name__)


def bring_back(file: Path, url: URL, *, study_id: str) -> bool:
    """Restore a backup where there is no journal yet; return whether that was done.

    Raises:
        InputError: the backup is none, or of another study.
        WorkspaceError: it is damaged.
    """
    if url.get_backend_name() != "sqlite" or not file.is_file() or Path(url.database or "").exists():
        return False
    restore(file, url, study_id=study_id)
    return True


@contextmanager
def backed_up(journal: Journal, file: Path | None, *, every_seconds: float) -> Iterator[None]:
    """Keep ``file`` at most so many seconds behind the journal; None keeps none. One that fails is logged and tried again."""
    if file is None:
        yield
        return
    ended, stored = threading.Event(), _Stored(journal)

    def keep() -> None:
        while not ended.wait(every_seconds):
            stored.store(file)

    thread = threading.Thread(target=keep, name="backup", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        stored.store(file)


class _Stored:
    """What the last backup held, so that a quiet study writes none."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._state: object = None

    def store(self, file: Path) -> None:
        state = self._seen()
        if state is not None and state == self._state:
            return
        try:
            backup(self._journal, file, replace=True)
            self._state = state
        except (InpaintBenchError, OSError) as error:
            _LOG.warning("backup %s failed, the next one is tried soon: %s", file, error)

    def _seen(self) -> object:
        """Times and sizes of the journal's files; None where it lies in a server."""
        path = self._journal.database.path
        if path is None:
            return None
        facts = [one.stat() for one in (path, path.with_name(f"{path.name}-wal")) if one.exists()]
        return [(one.st_mtime_ns, one.st_size) for one in facts]
