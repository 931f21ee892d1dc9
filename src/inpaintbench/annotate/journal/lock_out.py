"""Wrong passwords: counted by name, and a name that had too many is locked for a while. No name is shut out for good."""

from __future__ import annotations

import secrets

from sqlalchemy import delete, select

from inpaintbench.annotate.journal.database import Transaction
from inpaintbench.annotate.journal.schema import failures

# Wrong passwords for one name within `LOCK_SECONDS`; then no password is tried for that name for as long.
FAILURES_ALLOWED = 10
LOCK_SECONDS = 15 * 60.0


def is_locked(transaction: Transaction, study_id: str, key: str, *, at: float) -> bool:
    """Whether so many wrong passwords were sent for a name that none is tried now."""
    theirs = select(failures.c.at).where(failures.c.study_id == study_id, failures.c.name_key == key)
    latest = [row.at for row in transaction.rows(theirs.order_by(failures.c.at.desc()).limit(FAILURES_ALLOWED))]
    if len(latest) < FAILURES_ALLOWED or latest[0] - latest[-1] > LOCK_SECONDS:
        return False
    return bool(at - latest[0] < LOCK_SECONDS)


def may_try(transaction: Transaction, study_id: str, key: str, *, at: float) -> bool:
    """Count an attempt as failed before it is checked: then a hundred at once are ten tries as well."""
    if is_locked(transaction, study_id, key, at=at):
        return False
    transaction.change(delete(failures).where(failures.c.at < at - 2 * LOCK_SECONDS))
    row = {"failure_id": secrets.token_hex(16), "study_id": study_id, "name_key": key, "at": at}
    transaction.insert(failures, row)
    return True


def forget_failures(transaction: Transaction, study_id: str, key: str) -> None:
    """The right password was given."""
    transaction.change(delete(failures).where(failures.c.study_id == study_id, failures.c.name_key == key))
