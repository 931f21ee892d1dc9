"""The journal of human work: an append-only table of events, who may write to it, and its backups.

SQLite or PostgreSQL through SQLAlchemy Core.
"""

from __future__ import annotations

from inpaintbench.annotate.journal.store import AlreadyThere, Journal, Writer

__all__ = ["AlreadyThere", "Journal", "Writer"]
