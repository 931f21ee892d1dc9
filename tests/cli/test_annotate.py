"""The commands of `annotate`: where journals lie, what agreement prints, plans, and the demo."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from studies_made import write_study
from typer.testing import CliRunner

from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.statistics.agreement import Scheme, krippendorff_alpha
from inpaintbench.annotate.statistics.planning import plan_labels, plan_selection
from inpaintbench.annotate.study import RuleSpec, load, save
from inpaintbench.cli import app
from inpaintbench.errors import InputError
from inpaintbench.recipes.demo_study import COMPARED, UNFINISHED, is_free, write_demo_study
from inpaintbench.types import Answer, Attribute, Clip
from inpaintbench.workspace import Workspace


def run(*words: str | Path) -> str:
    return CliRunner().invoke(app, ["annotate", *map(str, words)], catch_exceptions=False).output


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"[|│┃]|\s{2,}", line) if cell.strip()]


def answered(folder: Path, *, database: str) -> None:
    """A study about water, answered by three raters."""
    made = write_study(folder, [{"leaf": "scene_motion"}], subjects=6, proxies=1)
    rows = []
    for place, task in enumerate(made.tasks):
        for number, rater in enumerate(("ann", "bob", "cleo")):
            told = {"water": ("0", "25", "100")[(place + number // 2) % 3], "other": ("5", "10")[(place * number) % 2]}
            rows.append({"rater": rater, "task_id": task.task_id, "given": told, "seconds": 1})
    (folder / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("import", folder, folder / "votes.jsonl", "--database", database)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study whose answers lie in another file, named by a relative URL."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INPAINTBENCH_DATABASE", raising=False)
    answered(tmp_path / "study", database="sqlite+pysqlite:///answers.sqlite")
    return tmp_path / "study"


def test_a_relative_journal_is_one_file_for_every_command(elsewhere: Path) -> None:
    place = elsewhere.parent / "answers.sqlite"
    assert not (elsewhere / "journal.sqlite").exists()
    for name in ("answers.sqlite", "sqlite:///answers.sqlite", str(place), f"sqlite:///{place}"):
        assert "18 were here already" in run("import", elsewhere, elsewhere / "votes.jsonl", "--database", name)
    with Journal(place) as journal:
        assert Counter(event.kind for event in journal.events(load(elsewhere).study_id))["answer"] == 18


@pytest.mark.parametrize(
    "command", ["status", "resolve", "agreement", "raters", "report", "invite", "prepare", "backup", "export", "serve"]
)
def test_answers_elsewhere_are_not_overlooked(elsewhere: Path, command: str) -> None:
    (elsewhere.parent / "study.toml").write_text(
        'title = "Another"\nsubjects = {workspace = "W"}\nquestions = [{leaf = "keep_reject"}]\n'
    )
    words = {
        "invite": ("invite", elsewhere, "Zoe"), "backup": ("backup", elsewhere, "--out", "b.sqlite"),
        "prepare": ("prepare", elsewhere.parent / "study.toml", "--out", elsewhere),
        "export": ("export", elsewhere, "--out", "e.csv"),
    }.get(command, (command, elsewhere))  # fmt: skip
    before = (elsewhere / "study.json").read_bytes()
    with pytest.raises(InputError, match=r"lie in '.*/answers\.sqlite'; give it with --database, or delete '.*journal\.json'"):
        run(*words)
    assert (elsewhere / "study.json").read_bytes() == before
    assert not (elsewhere / "journal.sqlite").exists()


def test_another_journal_than_that_of_the_answers_allows_no_other_study(elsewhere: Path) -> None:
    (elsewhere.parent / "study.toml").write_text(
        'title = "Another"\nsubjects = {workspace = "W"}\nquestions = [{leaf = "keep_reject"}]\n'
    )
    with pytest.raises(InputError, match=r"lie in '.*/answers\.sqlite', not in '.*/empty\.sqlite'"):
        run("prepare", elsewhere.parent / "study.toml", "--out", elsewhere, "--database", "empty.sqlite")


def test_a_backup_may_be_looked_at_and_brought_home(elsewhere: Path) -> None:
    run("backup", elsewhere, "--out", "copy.sqlite", "--database", "answers.sqlite")
    assert "covered" in run("status", elsewhere, "--database", "copy.sqlite")
    with pytest.raises(InputError, match=r"answers\.sqlite"):
        run("status", elsewhere)
    assert "journal.sqlite" in run("restore", "copy.sqlite", elsewhere, "--database", elsewhere / "journal.sqlite")
    assert "covered" in run("status", elsewhere)


@pytest.mark.parametrize(
    ("database", "said"),
    [
        ("notes.txt", "is no journal but something else"),
        (".", "Is a directory"),
        ("nowhere/at/all.sqlite", "No such file"),
        ("mysql://me:secret@host/db", "names no database that this program can use"),
    ],
)
def test_what_is_no_journal_is_one_sentence(elsewhere: Path, database: str, said: str) -> None:
    Path("notes.txt").write_text("words " * 100)
    with pytest.raises(InputError, match=said) as raised:
        run("status", elsewhere, "--database", database)
    assert "secret" not in str(raised.value)


def test_agreement_is_told_for_every_part_and_by_sources(elsewhere: Path) -> None:
    study, database = load(elsewhere), ("--database", "answers.sqlite")
    rows = {row["part"]: row for row in json.loads(run("agreement", elsewhere, *database, "--json"))["agreement"]}
    given: dict[str, dict[str, dict[str, str]]] = {"water": {}, "other": {}}
    for line in (elsewhere / "votes.jsonl").read_text().splitlines():
        row = json.loads(line)
        for part, value in row["given"].items():
            given[part].setdefault(row["task_id"], {})[row["rater"]] = value
    clusters = {task.task_id: task.cluster for task in study.tasks}
    assert len(set(clusters.values())) < len(study.tasks)
    scheme = Scheme("interval", ("0", "5", "10", "25", "50", "75", "100"))
    for part, answers in given.items():
        alpha = krippendorff_alpha(answers, scheme, clusters=clusters)
        assert alpha.reason == f"{len(set(clusters.values()))} sources: an interval, rank or lead needs at least 6"
        assert [rows[part][key] for key in ("alpha", "low", "high", "reason")] == [
            pytest.approx(alpha.value), None, None, alpha.reason
        ]  # fmt: skip


def test_confusion_prints_who_was_taken_for_whom(elsewhere: Path) -> None:
    printed = run("agreement", elsewhere, "--confusion", "--database", "answers.sqlite")
    assert "scene_motion, water: answers to one task, two by two" in printed
    table = [cells(line) for line in printed.partition("scene_motion, other")[2].splitlines()]
    rows = {row[0]: map(float, row[1:4]) for row in table if row and row[0] in ("5", "10")}
    counts = {value: dict(zip(("0", "5", "10"), row, strict=True)) for value, row in rows.items()}
    # Two raters always say 5, the third says 10 on every second of six clips; each answer counts once over its two partners.
    assert counts["5"]["10"] == counts["10"]["5"]
    assert sum(counts["5"].values()) + sum(counts["10"].values()) == pytest.approx(18)


def test_scripts_get_agreement_status_and_plans_as_json(elsewhere: Path) -> None:
    database = ("--database", "answers.sqlite", "--json")
    found = json.loads(run("agreement", elsewhere, "--confusion", *database))
    assert [row["part"] for row in found["agreement"]] == ["water", "other"]
    assert found["agreement"][0]["tasks"] == 6
    assert sum(map(sum, found["confusion"][0]["counts"])) == pytest.approx(18)
    told = json.loads(run("status", elsewhere, *database))
    assert {one["name"]: one["answered"] for one in told["raters"]} == {"ann": 6, "bob": 6, "cleo": 6}
    assert told["questions"][0]["votes"] == 18
    planned = json.loads(run("plan", "--kind", "best_of", "--half-width", "0.1", "--json"))
    assert planned["tasks"] == 97


def test_labels_go_into_one_workspace(elsewhere: Path) -> None:
    clips = [Clip("subject00000", "s", 0, 9, 30.0, 64, 48, 9, "b", "y", "r", 14, 46.0)]
    for name in ("A", "B"):
        Workspace(elsewhere.parent / name).write_table("clips", "cut", clips, Clip)
    with pytest.raises(InputError, match=r"labels go into one workspace, 2 are named: 'A', 'B'; give --into once"):
        run("resolve", elsewhere, "--into", "A", "--into", "B", "--database", "answers.sqlite")
    assert "written to" in run("resolve", elsewhere, "--into", "A", "--database", "answers.sqlite")


def test_resolve_counts_gold_with_a_tolerance_as_what_its_votes_come_to(tmp_path: Path) -> None:
    made = write_study(tmp_path / "study", [{"leaf": "scene_motion"}], subjects=6, proxies=1)
    right = [("25", "50"), ("25", "50"), ("0", "5"), ("100",), (), ()]
    golden = tuple(replace(task, gold=gold) for task, gold in zip(made.tasks, right, strict=True))
    save(replace(made, tasks=golden), tmp_path / "study")
    water = {0: ("25", "50", "50"), 1: ("0", "0"), 4: ("10", "10"), 5: ("0", "100")}  # the third and the fourth: nobody
    rows = [
        {"rater": f"r{number}", "task_id": made.tasks[place].task_id, "given": {"water": share, "other": "0"}, "seconds": 1}
        for place, shares in water.items()
        for number, share in enumerate(shares)
    ]
    (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("import", tmp_path / "study", tmp_path / "votes.jsonl")
    clips = [Clip(task.subject_id, "s", 0, 9, 30.0, 64, 48, 9, "b", "y", "r", 14, 46.0) for task in made.tasks]
    Workspace(tmp_path / "W").write_table("clips", "cut", clips, Clip)
    told = "no label without a vote: 1 gold clip of scene_motion with several right answers"
    assert told in run("status", tmp_path / "study")
    printed = run("resolve", tmp_path / "study", "--into", tmp_path / "W")
    rows = [cells(line) for line in printed.splitlines()]
    assert ["question", "decided", "unclear", "without agreement", "against gold", "no answer"] in [row[:6] for row in rows]
    assert ["scene_motion", "3", "0", "1", "1", "1"] in [row[:6] for row in rows]
    answers = {row.subject_id: (row.answer, row.votes) for row in Workspace(tmp_path / "W").table("answers", Answer)}
    assert list(answers.values()) == [("50", 3), (None, 2), ("100", 0), ("10", 2), (None, 2)]


def test_resolve_counts_what_raters_call_unclear_apart(tmp_path: Path) -> None:
    made = write_study(tmp_path / "study", [{"leaf": "camera_motion"}], subjects=2, proxies=1)
    rows = [
        {"rater": rater, "task_id": task.task_id, "choice": choice}
        for rater in ("a", "b")
        for task, choice in zip(made.tasks, ("unclear", "high"), strict=True)
    ]
    (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("import", tmp_path / "study", tmp_path / "votes.jsonl")
    clips = [Clip(task.subject_id, "s", 0, 9, 30.0, 64, 48, 9, "b", "y", "r", 14, 46.0) for task in made.tasks]
    Workspace(tmp_path / "W").write_table("clips", "cut", clips, Clip)
    printed = run("resolve", tmp_path / "study", "--into", tmp_path / "W")
    assert ["camera_motion", "1", "1", "0", "0", "0"] in [cells(line)[:6] for line in printed.splitlines()]


KINDS = {
    "scene_motion": ("25", "0"), "camera_motion": ("high", "low"), "keep_reject": ("reject", "keep"),
    "pairwise": ("deep", "tie"), "best_of": ("flow", "deep"), "mean_opinion": ("4", "2"),
}  # fmt: skip


@pytest.mark.parametrize("leaf", KINDS)
@pytest.mark.parametrize(("suffix", "subject"), [(".csv", "subject"), (".csv", "subject_id"), (".jsonl", "subject")])
def test_votes_made_elsewhere_need_a_rater_a_question_a_subject_and_a_choice(
    leaf: str, suffix: str, subject: str, tmp_path: Path
) -> None:
    methods = ("deep",) if leaf == "mean_opinion" else ("deep", "flow")
    study = write_study(tmp_path / "study", [{"leaf": leaf}], subjects=3, proxies=1, methods=methods, still=True)
    rows = [
        {"rater": f"r{rater}", "question": leaf, subject: task.subject_id, "choice": KINDS[leaf][rater % 2]}
        for task in study.tasks
        for rater in range(3)
    ]
    path = tmp_path / f"theirs{suffix}"
    if suffix == ".csv":
        path.write_text("\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]) + "\n")
    else:
        numbers = [{**row, "choice": int(row["choice"]) if row["choice"].isdigit() else row["choice"]} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in numbers))
    assert "9 judgements stored" in run("import", tmp_path / "study", path)
    assert "0 judgements stored, 9 were here already" in run("import", tmp_path / "study", path)
    # Everything that reads answers takes those that say neither how long they took nor the rest of their form.
    for command in ("status", "agreement", "raters", "report"):
        assert CliRunner().invoke(app, ["annotate", command, str(tmp_path / "study")]).exit_code == 0
    run("export", tmp_path / "study", "--out", tmp_path / f"again{suffix}")
    if study.question_of[leaf].subject == "clip":
        clips = [Clip(task.subject_id, "s", 0, 9, 30.0, 64, 48, 9, "b", "y", "r", 14, 46.0) for task in study.tasks]
        Workspace(tmp_path / "W").write_table("clips", "cut", clips, Clip)
        run("resolve", tmp_path / "study", "--into", tmp_path / "W")
        answers = Workspace(tmp_path / "W").table("answers", Answer)
        assert [(row.answer, row.votes) for row in answers] == [(KINDS[leaf][0], 3)] * 3
        if leaf == "scene_motion":
            values = {row.name: (row.value, row.reason) for row in Workspace(tmp_path / "W").table("attributes", Attribute)}
            assert values["bg_scene_motion"] == (0.25, None)
            assert values["other_scene_motion"] == (None, "nobody said; only the main answer is known")
    printed = run("import", tmp_path / "study", tmp_path / f"again{suffix}", "--database", tmp_path / "copy.sqlite")
    assert "9 judgements stored" in printed


def test_a_choice_that_several_tasks_of_a_subject_offer_asks_for_the_candidates(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", [{"leaf": "pairwise"}], subjects=1, proxies=1, still=True)
    name = study.tasks[0].subject_id
    path = tmp_path / "theirs.csv"
    path.write_text(f"rater,question,subject,choice\nr1,pairwise,{name},deep\n")
    with pytest.raises(InputError, match=r"line 2: 2 tasks have .*; say in a column candidates which .* such as deep.flow"):
        run("import", tmp_path / "study", path)
    path.write_text(f"rater,question,subject,candidates,choice\nr1,pairwise,{name},flow|deep,deep\n")
    assert "1 judgement stored" in run("import", tmp_path / "study", path)


def test_a_plan_for_labels_and_for_selections() -> None:
    labels = plan_labels(items=120, options=5, spread=0.3, half_width=0.06, seed=0)
    printed = run("plan", "--kind", "labels", "--items", "120", "--options", "5", "--spread", "0.3", "--half-width", "0.06")
    told = {cells(line)[0]: cells(line)[1] for line in printed.splitlines() if len(cells(line)) == 2}
    assert (told["raters_per_task in the study file"], told["votes"]) == (str(labels.raters_per_item), str(labels.votes))
    printed = run("plan", "--kind", "best_of", "--half-width", "0.1")
    told = {cells(line)[0]: cells(line)[1] for line in printed.splitlines() if len(cells(line)) == 2}
    assert told["tasks"] == str(plan_selection(half_width=0.1).tasks) == "97"
    with pytest.raises(InputError, match="no number of raters is enough: even with 60 raters"):
        run("plan", "--kind", "labels", "--items", "10", "--spread", "5", "--half-width", "0.01")


def test_the_demo_asks_everything_about_films_that_differ(tmp_path: Path) -> None:
    # As left by a run that was killed while it made the second film.
    (tmp_path / "demo" / "proxies").mkdir(parents=True)
    (tmp_path / "demo" / UNFINISHED).touch()
    (tmp_path / "demo" / "proxies" / "made.mp4").write_bytes(b"half")
    assert is_free(tmp_path / "demo")
    made = write_demo_study(tmp_path / "demo")
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == ["proxies", "study.json"]
    assert {path.name for path in (tmp_path / "demo" / "proxies").iterdir()} == set(made.proxies)
    assert load(tmp_path / "demo") == made
    assert any("water" in task.subject_id for task in made.tasks)
    shown = {task.question: set() for task in made.tasks}
    for task in made.tasks:
        tiles = made.proxies[task.proxy].tiles
        assert {tile.candidate for tile in tiles if tile.candidate} == set(task.candidates)
        shown[task.question].add(tuple(sorted(tile.role for tile in tiles)))
    players = ("input", "original", "outline")
    assert shown["scene_motion"] == {("clip",)}
    assert shown["best_of"] == {tuple(sorted(("candidate",) * len(COMPARED) + players))}
    assert shown["quality"] == {tuple(sorted(("candidate",) * 2 + players))}


def test_the_demo_goes_into_no_folder_of_others_and_resolves_nowhere(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").touch()
    with pytest.raises(InputError, match="is not empty and holds no study"):
        run("demo", "--out", tmp_path / "letters")
    made = write_demo_study(tmp_path / "demo")
    task = next(task for task in made.tasks if task.question == "camera_motion")
    row = {"rater": "ann", "task_id": task.task_id, "choice": "low", "seconds": 1}
    (tmp_path / "votes.jsonl").write_text(json.dumps(row) + "\n")
    run("import", tmp_path / "demo", tmp_path / "votes.jsonl")
    with pytest.raises(InputError, match="lie in no workspace, so nothing can be written there; name one with --into"):
        run("resolve", tmp_path / "demo")


def test_labels_go_only_where_the_clips_are(elsewhere: Path, tmp_path: Path) -> None:
    Workspace(tmp_path / "run")
    with pytest.raises(InputError, match="has none of the study's clips"):
        run("resolve", elsewhere, "--into", tmp_path / "run", "--database", "answers.sqlite")


def test_a_study_has_a_folder_of_its_own(tmp_path: Path) -> None:
    Workspace(tmp_path / "workspace")
    run("new", "devil_labels", "--out", tmp_path / "study.toml")
    text = (tmp_path / "study.toml").read_text().replace('"WORKSPACE"', '"workspace"')
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(InputError, match="is a workspace or a run; name a folder of its own"):
        run("prepare", tmp_path / "study.toml", "--out", tmp_path / "workspace")


def test_a_backup_of_another_study_is_not_brought_in(elsewhere: Path, tmp_path: Path) -> None:
    write_study(tmp_path / "other", [{"leaf": "camera_motion"}], subjects=2, proxies=1)
    run("backup", elsewhere, "--out", tmp_path / "kept.sqlite", "--database", "answers.sqlite")
    with pytest.raises(InputError, match="does not hold this study; the studies in it: 'A study'"):
        run("restore", tmp_path / "kept.sqlite", tmp_path / "other")
    assert not (tmp_path / "other" / "journal.sqlite").exists()


def test_nonsense_is_one_sentence(elsewhere: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("rater,question,subject_id,choice,seconds\n")
    with pytest.raises(InputError, match="holds no judgements"):
        run("import", elsewhere, tmp_path / "empty.csv", "--database", "answers.sqlite")
    with pytest.raises(InputError, match="with 90 % ties nobody wins 80 % of the votes"):
        run("plan", "--ties", "0.9", "--difference", "0.3")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three methods on eight sources: five raters prefer deep to flow to patch; ``foe`` says the opposite."""
    folder = tmp_path_factory.mktemp("compared") / "study"
    made = write_study(folder, [{"leaf": "pairwise"}], subjects=24, still=True, proxies=1, checks={"repeat_share": 0.0})
    order = ("deep", "flow", "patch")
    rows = []
    for place, task in enumerate(made.tasks):
        better, worse = sorted(task.candidates, key=order.index)
        for number, rater in enumerate(("ann", "bob", "cleo", "dan", "eve", "foe")):
            choice = worse if rater == "foe" or (place + number) % 4 == 0 else better
            rows.append(
                {
                    "rater": rater,
                    "task_id": task.task_id,
                    "choice": choice,
                    "shown": task.candidates[:: 1 - place // 4 % 2 * 2],
                    "seconds": 2,
                }
            )
    (folder / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("import", folder, folder / "votes.jsonl")
    return folder


def test_excluded_answers_are_left_out_everywhere_and_results_are_told_with_them(compared: Path, tmp_path: Path) -> None:
    before = json.loads(run("ranking", compared, "--json"))
    assert before["excluded"] is None
    assert "count for nothing" not in run("ranking", compared)
    assert "answers no longer count" in run("exclude", compared, "foe", "--reason", "left every time")
    assert "excluded before" in run("exclude", compared, "foe", "--reason", "again")
    after = json.loads(run("ranking", compared, "--json"))
    assert after["with_excluded"]["rankings"] == before["rankings"]
    assert after["excluded"]["answers"] == 72

    def lead(told: dict) -> float:
        strengths = {row["name"]: row["strength"] for row in told["rankings"]["pairwise"]["methods"]}
        return strengths["deep"] - strengths["patch"]

    assert lead(after) > 1.3 * lead(before)
    assert after["rankings"]["pairwise"]["votes"] == 5 * 72
    moved = {(row["first"], row["second"]) for row in after["excluded"]["changed_verdicts"]}
    printed = " ".join(run("ranking", compared).split())
    assert "pairwise, with excluded answers" in printed
    assert f"72 answers excluded; {'no verdict' if not moved else f'{len(moved)} verdict'}" in printed
    run("export", compared, "--out", tmp_path / "e.jsonl")
    exported = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text().splitlines()]
    assert {row["rater_id"] for row in exported} == {"ann", "bob", "cleo", "dan", "eve"}
    status = json.loads(run("status", compared, "--json"))
    assert status["questions"][0]["votes"] == 5 * 72
    assert {row["rater_id"]: row["excluded"] is not None for row in status["raters"]}["foe"]
    told = json.loads(run("report", compared, "--out", tmp_path / "report", "--json"))
    assert (told["answers"], told["excluded"]) == (360, 72)
    page = (tmp_path / "report" / "study.html").read_text()
    assert "Excluded answers" in page
    assert "left every time" in page
    assert "answers count again" in run("include", compared, "foe", "--reason", "a mirrored screen")
    assert json.loads(run("ranking", compared, "--json")) == before


def test_one_answer_is_excluded_by_its_id(compared: Path, tmp_path: Path) -> None:
    run("export", compared, "--out", tmp_path / "e.jsonl")
    row = json.loads((tmp_path / "e.jsonl").read_text().splitlines()[0])
    assert "this answer no longer counts" in run(
        "exclude", compared, row["rater_id"], "--answer", row["submission_id"], "--reason", "phone rang"
    )
    assert json.loads(run("ranking", compared, "--json"))["rankings"]["pairwise"]["votes"] == 6 * 72 - 1
    assert "counts again" in run("include", compared, row["rater_id"], "--answer", row["submission_id"], "--reason", "it did not")
    with pytest.raises(InputError, match="no rater called 'nobody'"):
        run("exclude", compared, "nobody", "--reason", "x")


def test_screening_proposes_by_the_studys_rules_and_applies_when_told(compared: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"states no rules; its study file takes them under \[screening\]"):
        run("screen", compared)
    study = load(compared)
    ruled = study.file.model_copy(update={"screening": {"annotator_model": RuleSpec(), "side_bias": RuleSpec(auto=True)}})
    folder = tmp_path / "study"
    shutil.copytree(compared, folder, ignore=shutil.ignore_patterns("journal*"))
    rows = [json.loads(line) for line in (folder / "votes.jsonl").read_text().splitlines()]
    rng = np.random.default_rng(0)
    for row in rows:  # who prefers the opposite is left alone, who tosses a coin is not
        row["choice"] = row["shown"][int(rng.random() < 0.5)] if row["rater"] == "eve" else row["choice"]
    (folder / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("import", folder, folder / "votes.jsonl")
    save(replace(study, file=ruled), folder)
    told = json.loads(run("screen", folder, "--json"))
    assert [(row["rater"], row["rule"], row["answers"], row["state"]) for row in told["flagged"]] == [
        ("eve", "annotator_model", 72, "proposed")
    ]
    run("report", folder, "--out", tmp_path / "report")
    page = (tmp_path / "report" / "study.html").read_text()
    assert "as likely of a coin as of an order" in page
    assert "proposed" in page
    assert "1 rater of 6 flagged" in " ".join(run("screen", folder, "--apply").split())
    assert json.loads(run("screen", folder, "--json"))["flagged"][0]["state"] == "excluded"
    assert {row["name"] for row in json.loads(run("ranking", folder, "--json"))["rankings"]["pairwise"]["methods"]}
    assert json.loads(run("ranking", folder, "--json"))["excluded"]["answers"] == 72
    run("include", folder, "eve", "--reason", "talked to them")
    assert json.loads(run("screen", folder, "--json", "--apply"))["flagged"][0]["state"] == "kept by a person"
    assert json.loads(run("ranking", folder, "--json"))["excluded"] is None


def test_planning_tells_what_it_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inpaintbench.annotate.statistics.planning.power_of", lambda _setting, votes, **_: min(1.0, votes / 500))
    done = CliRunner().invoke(app, ["annotate", "plan", "--methods", "3", "--json"], catch_exceptions=False)
    assert "48 votes: enough in 9.6 % of 60 simulated studies" in done.stderr.replace("\N{NO-BREAK SPACE}", " ")
    assert json.loads(done.stdout)["votes"] >= 450


def test_raters_and_studies_are_told_as_json(compared: Path) -> None:
    run("invite", compared, "Ada")
    told = json.loads(run("raters", compared, "--json"))["raters"]
    assert [(row["name"], row["is"], row["answered"]) for row in told] == [("Ada", "rater", 0)]
    assert "devil_labels" in {row["name"] for row in json.loads(run("studies", "--json"))["studies"]}
