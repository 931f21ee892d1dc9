"""`annotate serve`, `demo`, `invite`, `raters`, `revoke`, `resume`, `exclude`, `status` and others: while people are asked."""

from __future__ import annotations

import getpass
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from inpaintbench.annotate.crowd import address
from inpaintbench.annotate.study import MANIFEST, load
from inpaintbench.cli import console
from inpaintbench.cli.annotate.opening import Database, InStudy, opened, place_of
from inpaintbench.cli.console import Answer, AsJson, Table, records
from inpaintbench.cli.options import Port, argument, option
from inpaintbench.errors import InputError, MissingExtraError, UsageError
from inpaintbench.pages.words import count, moment

if TYPE_CHECKING:
    from inpaintbench.annotate.journal.accounts import Role

Names = Annotated[list[str], argument("What raters are called; any words.")]
Name = Annotated[str, argument("What the rater is called.")]
_ORIGIN = "http://127.0.0.1:7860"


def serve(
    study: InStudy,
    *,
    database: Database = None,
    host: str = "127.0.0.1",
    port: Port = 7860,
    origin: str | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    trusted_proxy: list[str] | None = None,
    embed: list[str] | None = None,
    backup: Path | None = None,
) -> None:
    """Open the browser app of a study; Ctrl-C ends it.

    Args:
        host: Address to listen at; 0.0.0.0 = all networks.
        port: 0 = a free one.
        origin: How browsers reach it through a proxy in front, such as https://NAME.
        certificate: TLS certificate (PEM).
        key: TLS private key (PEM).
        trusted_proxy (NETWORK): Address or network of a proxy in front, whose X-Forwarded-For is believed.
        embed (ORIGIN): Origin whose pages may show the app in a frame; needs TLS.
        backup: Copy the journal here every minute, and bring it back from here where there is none.

    Example: inpaintbench annotate serve STUDY --port 7860
    """
    crowd = load(study).file.crowd

    def ready(origin: str) -> None:
        if crowd is not None:
            console.say(f"for the platform ({crowd.platform}): {address(crowd, origin)}")
            if not crowd.code("completed"):
                console.warn(
                    "who completes the study gets no code: crowd.codes.completed and INPAINTBENCH_CODE_COMPLETED are empty"
                )
        console.say(f"raters: {origin} with the links of `inpaintbench annotate invite`; Ctrl-C ends the app")

    start(
        study, database=database, host=host, port=port, origin=origin, certificate=certificate, key=key,
        trusted_proxies=trusted_proxy or (), embed=embed or (), backup=backup, ready=ready,
    )  # fmt: skip


def start(
    study: Path, *, database: str | None, host: str = "127.0.0.1", port: int, origin: str | None = None,
    certificate: Path | None = None, key: Path | None = None, trusted_proxies: Sequence[str] = (), embed: Sequence[str] = (),
    backup: Path | None = None,
    ready: Callable[[str], None],
) -> None:  # fmt: skip
    """Run the app until it is ended."""
    if not all(map(find_spec, ("gradio", "sqlalchemy"))):
        raise MissingExtraError("the browser app", "annotate")
    from inpaintbench.annotate.app.serve import serve as serve_app

    serve_app(
        study, database=database, host=host, port=port, public_origin=origin, certificate=certificate, key=key,
        trusted_proxies=trusted_proxies, embed=embed, backup=backup, ready=ready,
        warn=console.warn,
    )  # fmt: skip


def invite(
    study: InStudy,
    names: Names,
    *,
    database: Database = None,
    admin: bool = False,
    unblinded: bool = False,
    password: bool = False,
    origin: str = _ORIGIN,
    as_json: AsJson = False,
) -> None:
    """Add raters, and print a secret link for each. A new link for a known name makes the old one useless.

    Args:
        admin: They see the admin page and do not answer.
        unblinded: With --admin: they are told methods' names before the end.
        password: Ask for a password to sign in with, instead of a link.
        origin: Where raters reach the app.

    Example: inpaintbench annotate invite STUDY Ada Grace
    """
    if unblinded and not admin:
        raise UsageError("--unblinded is for admins: raters are never told which method is which; give --admin too")
    role: Role = "unblinded" if unblinded else "admin" if admin else "rater"
    if password and len(names) != 1:
        raise UsageError(f"--password sets that of one rater, {len(names)} are named")
    invited: list[dict[str, str]] = []
    with opened(study, database, answers=True) as open_study:
        try:  # a link is told once: those that were made are printed although the next name fails
            for name in names:
                rater_id = open_study.rater_id(name, role=role)
                if password:
                    asked = getpass.getpass("Password: ")
                    if asked != getpass.getpass("Once more: "):
                        raise InputError("the two passwords differ; nothing was changed")
                    open_study.people.set_password(open_study.study_id, rater_id, asked)
                    invited.append({"name": name, "address": f"{origin}/login"})
                else:
                    secret = open_study.people.invite(open_study.study_id, rater_id)
                    invited.append({"name": name, "address": f"{origin}/join/{secret}"})
        finally:
            means = ": signs in at " if password else ": "
            told = "\n".join(f"{of['name']}{means}{of['address']}" for of in invited)
            if invited:
                Answer({"invited": invited}, told).tell(as_json=as_json)


def raters(study: InStudy, *, database: Database = None) -> Answer:
    """List the raters of a study.

    Example: inpaintbench annotate raters STUDY
    """
    with opened(study, database) as open_study:
        seen = {rater["rater_id"]: rater for rater in open_study.desk.overview()["raters"]}
        rows = []
        for rater in open_study.people.raters(open_study.study_id):
            told = seen.get(rater.rater_id, {})
            role = "revoked" if rater.revoked else "paused" if told.get("paused") else rater.role
            standing = f"{role}, excluded" if told.get("excluded") else role
            rows.append((rater.name, standing, told.get("answered", 0), moment(rater.created_at)))
    return Answer(
        {"raters": records(["name", "is", "answered", "since"], rows)},
        Table("raters", ["name", "is", "answered", "since (UTC)"], rows),
    )


def revoke(study: InStudy, name: Name, *, database: Database = None) -> Answer:
    """End a rater's link, password and open sessions. Answers stay.

    Example: inpaintbench annotate revoke STUDY Ada
    """
    with opened(study, database) as open_study:
        open_study.people.revoke(open_study.study_id, open_study.rater(name).rater_id)
    return Answer({"name": name, "revoked": True}, f"{name} can no longer sign in")


def resume(study: InStudy, name: Name, *, database: Database = None) -> Answer:
    """Let a paused rater go on. Raters are paused who miss too many known answers.

    Example: inpaintbench annotate resume STUDY Ada
    """
    with opened(study, database) as open_study:
        open_study.desk.resume(open_study.rater(name).rater_id)
    return Answer({"name": name, "paused": False}, f"{name} can go on")


Reason = Annotated[str, option("Why; the journal and the report keep it.")]
Submission = Annotated[
    str | None, option("One answer of theirs, by its submission_id in `annotate export`.", default="all of them")
]


def exclude(study: InStudy, name: Name, *, reason: Reason, answer: Submission = None, database: Database = None) -> Answer:
    """Let a rater's answers count for nothing. They stay, and tasks open for others.

    Example: inpaintbench annotate exclude STUDY Ada --reason "chose left 40 times of 40"
    """
    with opened(study, database) as open_study:
        rater_id = open_study.judged_by(name)
        done = open_study.desk.exclude(rater_id, submission_id=answer, reason=reason)
    what = "this answer no longer counts" if answer else "answers no longer count, and there is no more work for them"
    sentence = f"{name}: {what}" if done else f"{name}: excluded before; nothing was changed"
    return Answer({"name": name, "answer": answer, "excluded": True, "changed": done}, sentence)


def include(study: InStudy, name: Name, *, reason: Reason, answer: Submission = None, database: Database = None) -> Answer:
    """Let excluded answers of a rater count again. Rules then leave them alone.

    Example: inpaintbench annotate include STUDY Ada --reason "sat before a mirrored screen"
    """
    with opened(study, database) as open_study:
        rater_id = open_study.judged_by(name)
        done = open_study.desk.include(rater_id, submission_id=answer, reason=reason)
    what = "this answer counts again" if answer else "answers count again"
    sentence = f"{name}: {what}" if done else f"{name}: not excluded; nothing was changed"
    return Answer({"name": name, "answer": answer, "excluded": False, "changed": done}, sentence)


def status(study: InStudy, *, database: Database = None) -> Answer:
    """How far a study is.

    Example: inpaintbench annotate status STUDY
    """
    with opened(study, database) as open_study:
        overview, names = open_study.desk.overview(), open_study.people.names(open_study.study_id)
    rated = [{"name": names.get(rater["rater_id"]), **rater} for rater in overview["raters"]]
    progress = {name: overview[name] for name in ("questions", "taken_out", "reported_broken", "why")}
    tasks = [
        (row["name"], row["tasks"], row["covered"], row["votes"], row["needed"], "done" if row["done"] else "open")
        for row in overview["questions"]
    ]
    columns = ["rater", "answered", "median s", "gold right", "of", "repeats equal", "of", "is", "excluded"]
    rows = [
        (
            names.get(row["rater_id"], row["rater_id"]), row["answered"], row["median_seconds"], row["gold"]["right"],
            row["gold"]["asked"], row["consistency"]["right"], row["consistency"]["asked"],
            (row["outcome"] or "").replace("_", " ") or ("paused" if row["paused"] else ""),
            row["excluded"]["reason"] if row["excluded"] else "",
        )
        for row in sorted(overview["raters"], key=lambda row: names.get(row["rater_id"], row["rater_id"]))
    ]  # fmt: skip
    broken = [*overview["taken_out"], *overview["reported_broken"]]
    sentences = [f"does not play: {task['question']} of {task['caption'] or task['subject_id']}" for task in broken]
    for row in overview["questions"]:
        if silent := row["gold_without_label"]:
            sentences.append(f"no label without a vote: {count(silent, 'gold clip')} of {row['name']} with several right answers")
    return Answer(
        {"title": open_study.study.file.title, **progress, "raters": rated},
        Table(open_study.study.file.title, ["question", "tasks", "covered", "votes", "needed", "state"], tasks),
        Table("raters", columns, rows), *sentences, overview["why"],
    )  # fmt: skip


def backup(study: InStudy, *, out: Path, database: Database = None, replace: bool = False) -> Answer:
    """Copy the journal to one checked file while the app runs.

    Args:
        out: The SQLite file to write.
        replace: Write over an older backup.

    Example: inpaintbench annotate backup STUDY --out journal-backup.sqlite
    """
    from inpaintbench.annotate.journal import backup as copy

    with opened(study, database) as open_study:
        copy(open_study.journal, out, replace=replace)
    size = out.stat().st_size
    return Answer({"file": out, "bytes": size}, f"{console.shown(out)}: {size / 1e6:.1f} MB")


def restore(file: Path, study: InStudy, *, database: Database = None) -> Answer:
    """Bring a backup into an empty journal.

    Args:
        file: A backup.

    Example: inpaintbench annotate restore journal-backup.sqlite STUDY
    """
    url = place_of(study, database)
    from inpaintbench.annotate.journal import restore as bring_back
    from inpaintbench.annotate.journal.engines import name_of, note

    bring_back(file, url, study_id=load(study).study_id)
    note(study, url)
    sentence = f"{console.shown(file)} is back in the journal {name_of(url)}"
    return Answer({"file": file, "journal": name_of(url)}, sentence)


def demo(*, out: Path | None = None, port: Port = 7860) -> None:
    """Try the browser app with a small study. Its films are made here; Ctrl-C ends it.

    Args:
        out: Folder of the study; a later demo goes on in it. [default: a new temporary one]
        port: 0 = a free one.

    Example: inpaintbench annotate demo --out first-look
    """
    from inpaintbench.recipes.demo_study import RATERS, is_free, write_demo_study

    folder = out or Path(tempfile.mkdtemp(prefix="inpaintbench-demo-"))
    if not (folder / MANIFEST).exists():
        if not is_free(folder):
            raise InputError(f"{str(folder)!r} is not empty and holds no study; choose another folder")
        write_demo_study(folder)
    with opened(folder, None) as open_study:
        people: dict[str, Role] = {**dict.fromkeys(RATERS, "rater"), "Admin": "unblinded"}
        links = {
            name: open_study.people.invite(open_study.study_id, open_study.rater_id(name, role=role))
            for name, role in people.items()
        }

    def ready(address: str) -> None:
        console.say(f"the study lies in {console.shown(folder)}; open one of these links, Ctrl-C ends the app")
        for name, secret in links.items():
            console.say(f"  {name + ':':<15}{address}/join/{secret}")

    start(folder, database=None, port=port, ready=ready)
