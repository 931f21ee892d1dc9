"""The journal's tables as the program uses them; ``migrations`` makes them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

METADATA = MetaData()

versions = Table(
    "schema_version",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("migrated_at", Double, nullable=False),
)

studies = Table(
    "studies",
    METADATA,
    Column("study_id", String, primary_key=True),
    Column("title", String, nullable=False),
    Column("registered_at", Double, nullable=False),
)

events = Table(
    "events",
    METADATA,
    Column("study_id", String, ForeignKey("studies.study_id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("kind", String, nullable=False),
    Column("rater_id", String, nullable=False),
    Column("body", String, nullable=False),  # canonical JSON
    # Each is None for the kinds of events that have no such thing, and then unique columns do not count it.
    Column("submission_id", String),
    Column("closed_lease_id", String),
    Column("undoes", String),
    UniqueConstraint("study_id", "submission_id"),
    UniqueConstraint("study_id", "closed_lease_id"),
    UniqueConstraint("study_id", "undoes"),
)

raters = Table(
    "raters",
    METADATA,
    Column("study_id", String, ForeignKey("studies.study_id"), primary_key=True),
    Column("rater_id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("name_key", String, nullable=False),
    Column("role", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
    Column("password", String),
    UniqueConstraint("study_id", "name_key"),
)

invitations = Table(
    "invitations",
    METADATA,
    Column("secret_sha256", String, primary_key=True),
    Column("study_id", String, nullable=False),
    Column("rater_id", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
    ForeignKeyConstraint(["study_id", "rater_id"], ["raters.study_id", "raters.rater_id"]),
)

sessions = Table(
    "sessions",
    METADATA,
    Column("token_sha256", String, primary_key=True),
    Column("study_id", String, nullable=False),
    Column("rater_id", String, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    ForeignKeyConstraint(["study_id", "rater_id"], ["raters.study_id", "raters.rater_id"]),
)

failures = Table(
    "password_failures",
    METADATA,
    Column("failure_id", String, primary_key=True),
    Column("study_id", String, nullable=False),
    Column("name_key", String, nullable=False),
    Column("at", Double, nullable=False),
)

# Every table that holds what people did, those first that others refer to.
CONTENTS = tuple(table for table in METADATA.sorted_tables if table is not versions)
