"""Journals as older versions of the program made them."""

from __future__ import annotations

import json

from journal_writer import answer
from sqlalchemy import create_engine, text

VERSION_1 = """
CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY, migrated_at DOUBLE PRECISION NOT NULL);
INSERT INTO schema_version VALUES (1, 1700000000.5);
CREATE TABLE studies (study_id TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL, registered_at DOUBLE PRECISION NOT NULL);
INSERT INTO studies VALUES ('study-1', 'Old', 1700000001);
CREATE TABLE events (
    study_id TEXT NOT NULL REFERENCES studies (study_id), seq BIGINT NOT NULL, at DOUBLE PRECISION NOT NULL, kind TEXT NOT NULL,
    rater_id TEXT NOT NULL, body TEXT NOT NULL, submission_id TEXT, closed_lease_id TEXT, undoes TEXT,
    PRIMARY KEY (study_id, seq),
    UNIQUE (study_id, submission_id), UNIQUE (study_id, closed_lease_id), UNIQUE (study_id, undoes)
);
CREATE TABLE raters (
    study_id TEXT NOT NULL REFERENCES studies (study_id), rater_id TEXT NOT NULL, name TEXT NOT NULL, name_key TEXT NOT NULL,
    role TEXT NOT NULL, created_at DOUBLE PRECISION NOT NULL, revoked_at DOUBLE PRECISION, password TEXT,
    PRIMARY KEY (study_id, rater_id), UNIQUE (study_id, name_key)
);
INSERT INTO raters VALUES ('study-1', 'r1', 'Ann', 'ann', 'rater', 1700000002, NULL, NULL);
CREATE TABLE invitations (
    secret_sha256 TEXT NOT NULL PRIMARY KEY, study_id TEXT NOT NULL, rater_id TEXT NOT NULL, created_at DOUBLE PRECISION NOT NULL,
    revoked_at DOUBLE PRECISION, FOREIGN KEY (study_id, rater_id) REFERENCES raters (study_id, rater_id)
);
CREATE TABLE sessions (
    token_sha256 TEXT NOT NULL PRIMARY KEY, study_id TEXT NOT NULL, rater_id TEXT NOT NULL, created_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL, FOREIGN KEY (study_id, rater_id) REFERENCES raters (study_id, rater_id)
);
CREATE TABLE password_failures (
    failure_id TEXT NOT NULL PRIMARY KEY, study_id TEXT NOT NULL, name_key TEXT NOT NULL, at DOUBLE PRECISION NOT NULL
)
"""
"""As the first version was, with a study, a rater, and place for events."""

INSERT = text("INSERT INTO events VALUES ('study-1', :seq, :at, :kind, 'r1', :body, :submission_id, :closed_lease_id, :undoes)")


def write_version_1(url: str, *, answers: int = 50) -> list[dict]:
    """A journal of version 1 whose first answer was taken back; the bodies of its answers."""
    engine = create_engine(url.replace("postgresql:", "postgresql+pg8000:"))
    bodies = [answer("r1", number=number) for number in range(answers)]
    with engine.begin() as connection:
        for statement in VERSION_1.split(";"):
            connection.execute(text(statement))
        for seq, body in enumerate(bodies, start=1):
            ids = {"submission_id": body["submission_id"], "closed_lease_id": body["lease_id"], "undoes": None}
            connection.execute(INSERT, {"seq": seq, "at": seq / 2, "kind": "answer", "body": json.dumps(body), **ids})
        undo = {"submission_id": "u1", "undoes": bodies[0]["submission_id"], "task_id": "task-0"}
        told = {"submission_id": "u1", "closed_lease_id": None, "undoes": undo["undoes"]}
        connection.execute(INSERT, {"seq": answers + 1, "at": 99, "kind": "undo", "body": json.dumps(undo), **told})
    engine.dispose()
    return bodies
