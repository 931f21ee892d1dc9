"""`annotate crowd`, `withdraw`, `close`, `space`: people whom a platform sends, what is left of those who go, and a container."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from inpaintbench.annotate.crowd import Crowd
from inpaintbench.annotate.space import write_space
from inpaintbench.annotate.study import load
from inpaintbench.cli import console
from inpaintbench.cli.annotate.opening import Database, InStudy, Opened, opened
from inpaintbench.cli.annotate.running import Name
from inpaintbench.cli.console import AsJson, print_json
from inpaintbench.errors import InputError
from inpaintbench.files import write_atomically


def crowd(study: InStudy, *, database: Database = None, csv: Path | None = None, as_json: AsJson = False) -> None:
    """Whom to pay or to refuse of those that a platform sent. The platform is told by you.

    Args:
        csv: Write the table in the form of the platform here.

    Example: inpaintbench annotate crowd STUDY --csv payments.csv
    """
    from inpaintbench.annotate.journal.participants import Participants
    from inpaintbench.annotate.outcomes.payments import as_csv, payments

    with opened(study, database) as open_study:
        settings, study_id = _crowd_of(open_study), open_study.study_id
        rows = payments(open_study.desk.state(), settings, Participants(open_study.journal).all(study_id), now=time.time())
    if csv is not None:
        write_atomically(csv, as_csv(rows, settings.platform).encode())
    if as_json:
        print_json({"people": [asdict(row) for row in rows]})
        return
    if csv is not None:
        console.say(f"{len(rows)} people in {console.shown(csv)}")
    columns = ["person", "participant", "state", "decision", "minutes", "answers", "gold right", "of", "why"]
    cells = [
        (row.person, row.participant_id, row.state, row.decision, row.minutes, row.answers, row.gold_right, row.gold_asked,
         row.message)
        for row in rows
    ]  # fmt: skip
    console.print_table("crowd", columns, cells)
    for decision, many in Counter(row.decision for row in rows).most_common():
        console.say(f"{decision}: {many}")


def _crowd_of(open_study: Opened) -> Crowd:
    if open_study.study.file.crowd is None:
        raise InputError(f"the study in {str(open_study.folder)!r} takes nobody from a platform: it has no [crowd]")
    return open_study.study.file.crowd


def withdraw(study: InStudy, name: Name, *, database: Database = None, keep_votes: bool = False, as_json: AsJson = False) -> None:
    """Erase a person: name, platform's ids, free words, links. Answers are excluded unless they are to be kept.

    Args:
        keep_votes: What they answered still counts, under a pseudonym.

    Example: inpaintbench annotate withdraw STUDY Ada
    """
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.journal.participants import Participants

    with opened(study, database) as open_study:
        study_id, rater_id = open_study.study_id, open_study.rater(name).rater_id
        desk = Desk(open_study.study, open_study.journal)
        desk.withdraw(rater_id, keep_votes=keep_votes)
        counts = desk.state().excluded(rater_id) is None
        erased = Participants(open_study.journal).erase(study_id, rater_id)
    console.tell(
        f"{erased.name}: erased {erased.participants} of the platform's records, {erased.words} free words, "
        f"{erased.links} links; answers {'count' if counts else 'are excluded'}. Backups that you made before still hold them",
        {**asdict(erased), "answers_count": counts}, as_json=as_json,
    )  # fmt: skip


def close(study: InStudy, *, database: Database = None, as_json: AsJson = False) -> None:
    """End a study with a crowd: links to people are deleted. Pay everybody before.

    Example: inpaintbench annotate close STUDY
    """
    from inpaintbench.annotate.journal.participants import Participants

    with opened(study, database) as open_study:
        _crowd_of(open_study)
        many = Participants(open_study.journal).forget(open_study.study_id)
    sentence = f"{many} people can no longer be linked to their answers, and nobody can arrive any more"
    console.tell(sentence, {"unlinked": many, "open": False}, as_json=as_json)


def space(study: InStudy, *, out: Path, wheel: Path | None = None, as_json: AsJson = False) -> None:
    """Write what serves a study in a container or a Space. Nothing is sent anywhere.

    Args:
        out: Folder of the files; new or empty.
        wheel: Wheel of this package; else put one into wheels/.

    Example: inpaintbench annotate space STUDY --out SPACE
    """
    written = write_space(out, title=load(study).file.title, wheel=wheel)
    lines = [f"wrote {console.shown(path)}" for path in written]
    if wheel is None:
        wheels = shlex.quote(console.shown(out / "wheels"))
        lines.append(f"The image needs a wheel of this program: pip wheel --no-deps --wheel-dir {wheels} PATH_TO_CLONE")
    lines.append(
        f"Next: hf upload OWNER/NAME {shlex.quote(console.shown(out))} --repo-type=space, into a Space of the kind Docker"
    )
    console.tell("\n".join(lines), {"files": written}, as_json=as_json)
