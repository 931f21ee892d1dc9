"""The admin's tables and bars. All text that people wrote is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inpaintbench.annotate.events import Event
    from inpaintbench.annotate.journal.accounts import Rater
    from inpaintbench.annotate.study import Study

RATER_COLUMNS = (
    "Rater",
    "State",
    "Answers",
    "Skips",
    "Median time",
    "Last hour",
    "Right on checks",
    "Same on repeats",
    "Stutter",
    "Last seen",
)
NEWEST_COLUMNS = ("When", "Rater", "Question", "Item", "Answer", "Words", "Time")
BAD = ' class="bad"'
STYLE = """
.gradio-container { max-width: 1360px !important; margin: 0 auto !important; background: var(--paper) !important;
  --soft: color-mix(in srgb, var(--body-text-color) 66%, transparent); --paper: #f5f5f3; --card: #ffffff; --edge: #dddcd7;
  --act: #2a78d6; --good: #1b8a5a; --warn: #b26a00; }
body, gradio-app { background: #f5f5f3 !important; }
gradio-app, .gradio-container, .gradio-container .column, .gradio-container main { min-width: 0 !important; }
.dark .gradio-container, .gradio-container.dark { --paper: #161719; --card: #1e2023; --edge: #3a3e44; --act: #6aa6f0;
  --good: #55bd8b; --warn: #e8ac55; }
body.dark, body.dark gradio-app { background: #161719 !important; }
#summary, .tables, .deck { background: none !important; border: 0 !important; padding: 0 !important; }
#summary .head { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin: 8px 0 4px; }
#summary h1 { font-size: 24px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
#summary .state { display: inline-flex; align-items: center; gap: 7px; padding: 2px 12px; border-radius: 12px; font-size: 13px;
  font-weight: 600; color: var(--act); background: color-mix(in srgb, var(--act) 13%, transparent); }
#summary .state::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: currentColor; }
#summary .state.done { color: var(--good); background: color-mix(in srgb, var(--good) 13%, transparent); }
#summary .head a { margin-left: auto; font-size: 14px; font-weight: 600; color: var(--act); text-decoration: none;
  border: 1px solid var(--edge); border-radius: 8px; padding: 7px 14px; background: var(--card); }
#summary .head a:hover { border-color: var(--act); }
#summary p { color: var(--soft); margin: 0 0 14px; overflow-wrap: anywhere; }
#summary .cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 12px; }
#summary .card, .tables:not(:empty), .deck { background: var(--card) !important; border: 1px solid var(--edge) !important;
  border-radius: 12px !important; padding: 14px 18px !important; }
#summary .card b { display: block; font-size: 26px; font-weight: 650; line-height: 1.2; font-variant-numeric: tabular-nums; }
#summary .card b.bad { color: var(--warn); }
#summary .card span { color: var(--soft); font-size: 13px; line-height: 1.3; }
.tables .tables { border: 0 !important; padding: 0 !important; }
.tables h2, .deck h2 { font-size: 15px !important; font-weight: 650; margin: 0 0 8px; }
.tables .scroll { overflow-x: auto; contain: inline-size; }
.tables table { width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
.tables th { text-align: left; color: var(--soft); font-weight: 500; font-size: 13px; white-space: nowrap; }
.tables table, .tables tr, .tables th, .tables td { border: 0 !important; background: none !important; }
.tables th, .tables td { padding: 7px 14px 7px 0 !important; vertical-align: top;
  border-bottom: 1px solid var(--edge) !important; }
.tables tbody tr:last-child td { border-bottom: 0 !important; }
.tables td:nth-child(2), .tables td:last-child { white-space: nowrap; }
.tables td:last-child, .tables th:last-child { padding-right: 0 !important; }
.tables td { overflow-wrap: anywhere; min-width: 72px; }
.tables td.number, .tables th.number { text-align: right; white-space: nowrap; min-width: 0; }
.tables .none { color: var(--soft); }
.tables .row { display: grid; grid-template-columns: minmax(90px, 220px) 1fr 46px minmax(150px, 290px); gap: 14px;
  align-items: center; padding: 5px 0; font-size: 14px; }
.tables .row .name { overflow-wrap: anywhere; }
.tables .row .percent { text-align: right; font-weight: 600; font-variant-numeric: tabular-nums; }
.tables .row .count { color: var(--soft); font-size: 13px; }
.tables .track { height: 10px; border-radius: 5px; overflow: hidden;
  background: color-mix(in srgb, var(--body-text-color) 12%, transparent); }
.tables .fill { height: 100%; background: var(--act); border-radius: 5px; }
.tables .done .fill { background: var(--good); }
.tables .done .percent { color: var(--good); }
.people { gap: 12px !important; align-items: stretch; }
.people .block, .people .form { border: 0 !important; background: none !important; padding: 0 !important;
  box-shadow: none !important; overflow: visible !important; }
.people .acts { align-items: end; gap: 8px; }
.people .wrap { border: 0 !important; box-shadow: none !important; background: none !important; }
.people .acts > button { flex: 1 0 auto !important; padding: 0 14px !important; }
.people button { min-height: 42px; border-radius: 8px !important; font-size: 14px !important; white-space: nowrap; }
.people input { border: 1px solid var(--edge) !important; border-radius: 8px !important; min-height: 42px; }
#said, #link { border: 0 !important; background: none !important; padding: 0 !important; box-shadow: none !important; }
#said textarea, #said input { border: 0 !important; border-left: 3px solid var(--act) !important;
  border-radius: 0 8px 8px 0 !important;
  background: color-mix(in srgb, var(--act) 11%, transparent) !important; color: var(--body-text-color) !important;
  -webkit-text-fill-color: currentColor !important; min-height: 42px; font-weight: 500; resize: none; }
#link textarea, #link input { font-family: var(--font-mono); background: var(--card) !important;
  border: 1px solid var(--edge) !important;
  border-radius: 8px !important; -webkit-text-fill-color: currentColor !important; min-height: 42px; }
@media (max-width: 640px) {
  .tables .row { grid-template-columns: 1fr auto; gap: 2px 10px; }
  .tables .row .track { grid-column: 1 / -1; grid-row: 2; }
  .tables .row .count { grid-column: 1 / -1; }
  #summary .cards { grid-template-columns: 1fr 1fr; }
  #summary .head a { margin-left: 0; }
}
"""


def summary(overview: Mapping[str, Any]) -> str:
    """Title, whether the study is done and why, and the numbers that matter, as HTML."""
    questions = overview["questions"]
    raters = overview["raters"]
    paused = sum(one["paused"] for one in raters)
    needed = sum(0 if one["done"] else max(0, one["needed"] - one["votes"]) for one in questions)
    pace = overview["votes_last_hour"]
    figures = {
        "answers given": f"{sum(one['answered'] for one in raters):,}",
        "votes still needed": f"{needed:,}",
        "votes in the last hour": f"{pace:,}",
        "left at this pace": _hours(needed / pace) if needed and pace else "-",
        "raters at work": f"{len(raters):,}",
        "of them paused": f"{paused:,}",
        "items that do not play": f"{len(overview['taken_out']) + len(overview['reported_broken']):,}",
    }
    alarming = ("of them paused", "items that do not play")
    cards = "".join(
        f'<div class="card"><b{BAD if label in alarming and value != "0" else ""}>{value}</b><span>{label}</span></div>'
        for label, value in figures.items()
    )
    done = overview["done"]
    state = f'<span class="state{" done" if done else ""}">{"Done" if done else "Running"}</span>'
    link = '<a href="/admin/judgements.csv" download>Download all answers (CSV)</a>'
    head = f'<div class="head"><h1>{escape(overview["study"]["title"])}</h1>{state}{link}</div>'
    return f"{head}<p>{escape(str(overview['why']))}</p><div class='cards'>{cards}</div>"


def _hours(hours: float) -> str:
    if hours < 1:
        return f"{max(1, round(60 * hours))} min"
    return f"{hours:.0f} h" if hours >= 10 else f"{hours:.1f} h"


def coverage(overview: Mapping[str, Any]) -> str:
    """One bar a question: votes of those that it needs, as HTML."""
    return "<h2>Coverage</h2>" + "".join(_bar(one) for one in overview["questions"])


def _bar(question: Mapping[str, Any]) -> str:
    tasks = max(question["tasks"] - question["taken_out"], 0)
    needed = question["needed"]
    # Votes beyond those that a task needs must not make up for another task's.
    percent = 100.0 if question["done"] or not needed else min(99.0, 100 * question["votes"] / needed)
    wanted = question["raters_per_task"]
    votes = "one" if wanted == 1 else f"{wanted}"
    count = f"{question['votes']:,} votes; {question['covered']:,} of {tasks:,} tasks have their {votes}"
    if question["settled"]:
        count += ", order settled"
    label = escape(question["name"])
    return (
        f'<div class="row{" done" if question["done"] else ""}"><div class="name">{label}</div>'
        f'<div class="track" role="img" aria-label="{label}: {percent:.0f} %">'
        f'<div class="fill" style="width:{percent:.1f}%"></div></div><div class="percent">{percent:.0f} %</div>'
        f'<div class="count">{escape(count)}</div></div>'
    )


def raters(people: Sequence[Rater], overview: Mapping[str, Any]) -> str:
    """A row a rater, whoever was added or answered, as HTML."""
    at_work = {one["rater_id"]: one for one in overview["raters"]}
    rows = [_rater(one.name, _state(one, at_work.get(one.rater_id)), at_work.get(one.rater_id)) for one in people]
    known = {one.rater_id for one in people}
    rows += [_rater(one["name"], "imported", one) for one in overview["raters"] if one["rater_id"] not in known]
    return _table("Raters", RATER_COLUMNS, rows, numbers=range(2, 9))


def _state(rater: Rater, work: Mapping[str, Any] | None) -> str:
    if rater.revoked:
        return "shut out"
    if work is not None and work["paused"]:
        return "paused"
    return "admin" if rater.role == "admin" else "active" if work is not None else "not begun"


def _rater(name: str, state: str, work: Mapping[str, Any] | None) -> list[str]:
    if work is None:
        return [name, state, "0", "0", *["-"] * (len(RATER_COLUMNS) - 4)]
    seconds, stutter = work["median_seconds"], work["stuttered_fraction"]
    return [
        name,
        state,
        str(work["answered"]),
        str(work["skipped"]),
        "-" if seconds is None else f"{seconds:.1f} s",
        str(work["answered_last_hour"]),
        _share(work["gold"]),
        _share(work["consistency"]),
        "-" if stutter is None else f"{stutter:.0%}",
        _when(work["last_seen"]),
    ]


def newest(study: Study, events: Sequence[Event], people: Sequence[Rater]) -> str:
    """A row an answer or skip, as HTML."""
    names = {one.rater_id: one.name for one in people}
    rows = [_answer(study, event, names.get(event.rater_id, event.rater_id)) for event in events]
    return _table("Newest answers", NEWEST_COLUMNS, rows, numbers=(6,))


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Iterable[int]) -> str:
    """HTML of a table; columns ``numbers`` stand to the right."""
    if not rows:
        return f'<h2>{escape(title)}</h2><div class="none">None yet.</div>'
    kinds = [' class="number"' if place in set(numbers) else "" for place in range(len(columns))]

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)) + "</tr>"

    body = "".join(line("td", row) for row in rows)
    table = f"<table><thead>{line('th', columns)}</thead><tbody>{body}</tbody></table>"
    return f'<h2>{escape(title)}</h2><div class="scroll">{table}</div>'


def _answer(study: Study, event: Event, name: str) -> list[str]:
    task = study.task_of[event.body["task_id"]]
    seconds = event.body.get("seconds")
    words = [text for part, text in event.body.get("given", {}).items() if part.endswith("_text")] or [event.body.get("text", "")]
    return [
        _when(event.at),
        name,
        task.question,
        task.caption or task.subject_id,
        event.body["choice"] if event.kind == "answer" else f"skipped: {event.body['reason']}",
        " ".join(words),
        "-" if seconds is None else f"{seconds:.1f} s",
    ]


def _share(share: Mapping[str, Any]) -> str:
    return "-" if not share["asked"] else f"{share['share']:.0%} ({share['right']} of {share['asked']})"


def _when(at: float | None) -> str:
    return "-" if at is None else datetime.fromtimestamp(at, UTC).strftime("%d %b %H:%M UTC")
