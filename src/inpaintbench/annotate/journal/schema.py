"""The journal's tables as the program uses them, and the migrations that make them, version by version.

Once released, a migration is never changed: a new one follows it. Migrations are plain SQL, so that they stay what they were
while the tables go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from sqlalchemy import MetaData, create_engine, inspect, select, text

from inpaintbench.annotate.journal.database import Database, Transaction
from inpaintbench.annotate.journal.engines import snapshot
from inpaintbench.errors import InputError

# `body` is canonical JSON. The ids after it are NULL for the kinds of events without them; unique columns do not count NULL.
_TABLES = """
CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY, migrated_at DOUBLE PRECISION NOT NULL);
CREATE TABLE studies (
    study_id TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL, registered_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE events (
    study_id TEXT NOT NULL REFERENCES studies (study_id), seq BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL,
    kind TEXT NOT NULL, rater_id TEXT NOT NULL, body TEXT NOT NULL,
    submission_id TEXT, closed_lease_id TEXT, undoes TEXT,
    PRIMARY KEY (study_id, seq),
    UNIQUE (study_id, submission_id), UNIQUE (study_id, closed_lease_id), UNIQUE (study_id, undoes)
);
CREATE TABLE raters (
    study_id TEXT NOT NULL REFERENCES studies (study_id), rater_id TEXT NOT NULL, name TEXT NOT NULL, name_key TEXT NOT NULL,
    role TEXT NOT NULL, created_at DOUBLE PRECISION NOT NULL, revoked_at DOUBLE PRECISION, password TEXT,
    PRIMARY KEY (study_id, rater_id), UNIQUE (study_id, name_key)
);
CREATE TABLE invitations (
    secret_sha256 TEXT NOT NULL PRIMARY KEY, study_id TEXT NOT NULL, rater_id TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL, revoked_at DOUBLE PRECISION,
    FOREIGN KEY (study_id, rater_id) REFERENCES raters (study_id, rater_id)
);
CREATE TABLE sessions (
    token_sha256 TEXT NOT NULL PRIMARY KEY, study_id TEXT NOT NULL, rater_id TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL, expires_at DOUBLE PRECISION NOT NULL,
    FOREIGN KEY (study_id, rater_id) REFERENCES raters (study_id, rater_id)
);
CREATE TABLE password_failures (
    failure_id TEXT NOT NULL PRIMARY KEY, study_id TEXT NOT NULL, name_key TEXT NOT NULL, at DOUBLE PRECISION NOT NULL
);
CREATE INDEX password_failures_of_name ON password_failures (study_id, name_key, at)
"""

# What is said of people, apart from the events, so that it can be erased: who takes part in a crowd study, and free words.
# `external_key` is an HMAC of the platform's id under the key of the study: it stays when somebody has gone, so that nobody comes
# twice, and tells nothing once the key is deleted.
_PERSONAL = """
CREATE TABLE participants (
    study_id TEXT NOT NULL REFERENCES studies (study_id), external_key TEXT NOT NULL, rater_id TEXT, platform TEXT,
    participant TEXT, session TEXT, study TEXT, submit_to TEXT, arrived_at DOUBLE PRECISION,
    PRIMARY KEY (study_id, external_key), UNIQUE (study_id, rater_id)
);
CREATE TABLE study_keys (study_id TEXT NOT NULL PRIMARY KEY REFERENCES studies (study_id), secret TEXT NOT NULL);
CREATE TABLE words (
    study_id TEXT NOT NULL REFERENCES studies (study_id), submission_id TEXT NOT NULL, part TEXT NOT NULL,
    salt TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (study_id, submission_id, part)
)
"""

# The state of a study after so many events, derived from them: it may be deleted at any time, and no backup brings it back.
_SNAPSHOTS = """
CREATE TABLE snapshots (
    study_id TEXT NOT NULL PRIMARY KEY REFERENCES studies (study_id), seq BIGINT NOT NULL, state {bytes} NOT NULL
)
"""

# A keyed hash of the network from which somebody of a platform comes, as long as they are at work.
_NETWORK = "ALTER TABLE participants ADD COLUMN network TEXT"

# Read back from the SQL: no table is described a second time. A step that changes a table is to be run here too.
METADATA = MetaData()
_scratch = create_engine("sqlite://")
with _scratch.begin() as _connection:
    for _statement in (*_TABLES.split(";"), *_PERSONAL.split(";"), _SNAPSHOTS.format(bytes="BLOB"), _NETWORK):
        _connection.exec_driver_sql(_statement)
    METADATA.reflect(_connection)
_scratch.dispose()
versions, studies, events, raters, invitations, sessions, failures, participants, study_keys, words, snapshots = (
    METADATA.tables[name]
    for name in (
        "schema_version", "studies", "events", "raters", "invitations", "sessions", "password_failures",
        "participants", "study_keys", "words", "snapshots",
    )
)  # fmt: skip
# Every table that holds what people did, those first that others refer to.
CONTENTS = tuple(table for table in METADATA.sorted_tables if table not in (versions, snapshots))
_LATEST = select(versions.c.version).order_by(versions.c.version.desc()).limit(1)


_STANDING = """
SELECT answers.study_id, answers.seq, answers.at, answers.rater_id, answers.submission_id, {task_id} AS task_id,
    {choice} AS choice, {seconds} AS seconds, answers.body
FROM events AS answers
WHERE answers.kind = 'answer' AND NOT EXISTS (
    SELECT 1 FROM events AS undone WHERE undone.study_id = answers.study_id AND undone.undoes = answers.submission_id
)
"""
_COUNTED = f"""
CREATE VIEW judgements AS
WITH excluded AS (
    SELECT study_id, rater_id, {{submission}} AS submission
    FROM events WHERE kind IN ('exclude', 'include') GROUP BY study_id, rater_id, {{submission}}
    HAVING MAX(CASE kind WHEN 'exclude' THEN seq ELSE 0 END) > MAX(CASE kind WHEN 'include' THEN seq ELSE 0 END)
)
{_STANDING}
AND (answers.study_id, answers.rater_id) NOT IN (SELECT study_id, rater_id FROM excluded WHERE submission IS NULL)
AND (answers.study_id, answers.submission_id) NOT IN (SELECT study_id, submission FROM excluded WHERE submission IS NOT NULL)
"""
# Where bodies are read within the database: SQLite, and PostgreSQL.
_FIELDS = (
    {"task_id": "json_extract(answers.body, '$.task_id')", "choice": "json_extract(answers.body, '$.choice')",
     "seconds": "json_extract(answers.body, '$.seconds')", "submission": "json_extract(events.body, '$.submission')"},
    {"task_id": "answers.body::json ->> 'task_id'", "choice": "answers.body::json ->> 'choice'",
     "seconds": "CAST(answers.body::json ->> 'seconds' AS DOUBLE PRECISION)", "submission": "events.body::json ->> 'submission'"},
)  # fmt: skip
# No event is ever changed.
_NEVER_CHANGED = (
    tuple(
        f"CREATE TRIGGER events_no_{change} BEFORE {change} ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
        for change in ("update", "delete")
    ),
    (
        """
        CREATE FUNCTION events_never_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'events are never changed' USING ERRCODE = 'integrity_constraint_violation'; END $$
        """,
        """
        CREATE TRIGGER events_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON events
        FOR EACH STATEMENT EXECUTE FUNCTION events_never_changed()
        """,
    ),
)


def _step(sqlite: Sequence[str], postgres: Sequence[str]) -> Callable[[Transaction], None]:
    def run(transaction: Transaction) -> None:
        for statement in postgres if transaction.is_postgres else sqlite:
            transaction.change(text(statement))

    return run


# The step at place n leads to version n + 1: events, people, and the rule that no event is ever changed; the view `judgements`,
# answers that were not taken back, for people with tools that read SQL; that view without what is excluded; people and free words
# apart from the events; snapshots of the folded state; networks of people at work.
STEPS: tuple[Callable[[Transaction], None], ...] = (
    _step((*_TABLES.split(";"), *_NEVER_CHANGED[0]), (*_TABLES.split(";"), *_NEVER_CHANGED[1])),
    _step(*([f"CREATE VIEW judgements AS {_STANDING.format(**fields)}"] for fields in _FIELDS)),
    _step(*(["DROP VIEW judgements", _COUNTED.format(**fields)] for fields in _FIELDS)),
    _step(_PERSONAL.split(";"), _PERSONAL.split(";")),
    _step([_SNAPSHOTS.format(bytes="BLOB")], [_SNAPSHOTS.format(bytes="BYTEA")]),
    _step([_NETWORK], [_NETWORK]),
)


def migrate(database: Database) -> None:
    """Bring the schema up to date, in one transaction; a SQLite file that holds something is copied first.

    The copy lies beside the file and ends in ``.v<old version>-backup``. Processes that come at once migrate once.

    Raises:
        InputError: the schema is newer than this program, or the database holds something else.
        JournalUnavailable: the database does not answer.
    """
    with database.reading() as transaction:
        if _version(transaction, database=database) == len(STEPS):
            return
    with database.writing("schema") as transaction:
        old = _version(transaction, database=database)
        if 0 < old < len(STEPS) and database.path:
            snapshot(database.path, database.path.with_name(f"{database.path.name}.v{old}-backup"), replace=True)
        for version, step in list(enumerate(STEPS, start=1))[old:]:
            step(transaction)
            transaction.change(versions.insert(), {"version": version, "migrated_at": time.time()})


def _version(transaction: Transaction, *, database: Database) -> int:
    """The version found; 0 for an empty database."""
    tables = set(inspect(transaction.connection).get_table_names())
    if versions.name in tables:
        version = int(transaction.rows(_LATEST)[0][0])
        if version > len(STEPS):
            raise InputError(
                f"journal {database.name!r} has schema version {version}, and this program knows versions up to {len(STEPS)}: "
                "use a newer inpaintbench"
            )
        return version
    # A server's database may be shared with other programs; a file that holds something else was named by mistake.
    strange = tables & set(METADATA.tables) if transaction.is_postgres else tables
    if strange:
        raise InputError(f"database {database.name!r} is no journal: it holds a table {sorted(strange)[0]!r}; name another")
    return 0
