"""`curation select`, `why` and `funnel`: decide over what is stored, and show how it was decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from inpaintbench.cli import console
from inpaintbench.cli.console import Answer, AsJson, InWorkspace, Processes, Running, Table
from inpaintbench.cli.options import NONE_GIVEN, Given, Positive, of_recipe, option
from inpaintbench.curation import measuring
from inpaintbench.curation.calibration import LIMITATION, Share, audit, audit_csv, calibrate_judged
from inpaintbench.curation.facts import Facts
from inpaintbench.curation.funnel import source_names, write_funnel, write_what_if
from inpaintbench.curation.funnel.stages import stages
from inpaintbench.curation.judging import Judged, stored_selection, unasked
from inpaintbench.curation.judging import what_if as ask
from inpaintbench.curation.rules import parse_rules, read_rules
from inpaintbench.curation.why import Trail, find_clip, margin, trail, unit_and_direction
from inpaintbench.errors import InputError, RunError, UsageError, Waiting
from inpaintbench.executors.base import Rejection, is_note
from inpaintbench.export.growing import appended
from inpaintbench.files import display_name, write_atomically
from inpaintbench.pages.words import percent, percents
from inpaintbench.recipes.devil import OWN_FOOTAGE_RULES, DevilRecipe, change_rules
from inpaintbench.recipes.leakage import not_looked_for
from inpaintbench.recipes.settings import label_again, recall
from inpaintbench.steps import LEVELS
from inpaintbench.types import Attribute, Plain
from inpaintbench.workspace import Workspace

_NO_RULES = Path("none")
_AUDIT_AT_RANDOM = 20
_COPIES_SHOWN = 8


def select(
    workspace: InWorkspace,
    *,
    rules: Path | None = None,
    what_if: str | None = None,
    out: Path | None = None,
    audit_to: Path | None = None,
    audit_near: Positive = 20,
    without_rule: Annotated[
        list[str] | None,
        option(
            f"Switch off a default rule for footage of one's own: {', '.join(OWN_FOOTAGE_RULES)}, all, or none. Repeatable.",
            default="those remembered",
            among=(*OWN_FOOTAGE_RULES, "all", "none"),
        ),
    ] = None,
    given: Annotated[Given, of_recipe(DevilRecipe, "cut_score_limit", "level_share", "level_limit", "strict_rules")] = NONE_GIVEN,
    running: Processes = Running(),
) -> None:
    """Apply rules and label the clips that are kept. Options stay until given anew, and nothing is measured twice.

    Args:
        rules: TOML file with one [[rule]] each, in place of those remembered; `none`: take them back. [default: those
            remembered]
        what_if: Change nothing; tell what "camera_motion>0.2 and cut_score<=0.3" would gain and lose.
        out: Of --what-if: where the page of pictures goes. [default: WORKSPACE/what_if.html]
        audit_to --audit: Write a CSV of clips for people to look at, near thresholds and at random.
        audit_near: Of --audit: clips near each threshold.

    Example: inpaintbench curation select WORKSPACE --what-if "camera_motion>0.2 and cut_score<=0.3"
    """
    opened = Workspace(workspace, create=False)
    changed = dict(given)
    if what_if is not None:
        if changed or rules is not None or audit_to is not None or without_rule:
            raise UsageError("--what-if changes nothing; give it alone, and the rules in its expression")
        page, change = out or opened.path / "what_if.html", ask(opened, parse_rules(what_if))
        clips = {"now": change.now.kept, "then": change.then.kept, "gained": change.gained, "lost": change.lost}
        console.print_table("Clips kept", list(clips), [[int(flags.sum()) for flags in clips.values()]])
        for label in change.replaced:
            console.say(f"in place of: {label}")
        write_what_if(opened, change, page)
        console.say(f"Pictures of what is gained and lost: {console.shown(page)}")
        return
    if out is not None:
        raise UsageError("--out is where the page of --what-if goes; without --what-if there is none")
    if rules is not None:
        changed["rules"] = () if rules == _NO_RULES else read_rules(rules)
        measuring.check_rules(opened, changed["rules"])
    recipe = change_rules(recall(opened), changed, without_rule or ())
    try:
        with running.on(opened) as executor:
            label_again(recipe, executor, opened)
    except (RunError, Waiting):
        # Nothing is kept, or people have to answer first: the counts say why.
        print_judged(_stored(opened))
        raise
    judged = _stored(opened)
    print_judged(judged)
    for rule in unasked(opened):
        console.warn(f"warning: {rule.words}")
    if words := not_looked_for(opened):
        console.warn(f"warning: {words}")
    rows = opened.columns("attributes", Attribute, step=LEVELS, columns=["value", "value_text"])
    counted = [count for column in ("value", "value_text") for count in rows[column].drop_null().value_counts().to_pylist()]
    levels = {str(level_count["values"]): level_count["counts"] for level_count in counted}
    if levels:
        summary = ", ".join(f"{count} {level}" for level, count in sorted(levels.items()))
        console.say(f"labels, of camera and scene motion together: {summary}")
    if audit_to is not None:
        picked = audit(judged, near=audit_near, at_random=_AUDIT_AT_RANDOM)
        write_atomically(audit_to, audit_csv(judged, picked, names=source_names(opened)))
        console.say(f"{len(picked)} clips to look at in {console.shown(audit_to)}")
    console.tell_next("masks", "pair", workspace)


def _stored(workspace: Workspace) -> Judged:
    """The decisions in a workspace, which bring along the values that they rest on."""
    return stored_selection(workspace, Facts.of_workspace(workspace, ()))


def print_judged(judged: Judged) -> None:
    """The counts of every rule, and how it agrees with people where they have answered."""
    rows = [
        (count.label, count.judged, count.kept, count.dropped, count.dropped_alone, count.dropped_among_others, count.missing,
         count.waiting, count.flagged)
        for count in judged.counts()
    ]  # fmt: skip
    columns = ["rule", "judged", "kept", "dropped", "by it alone", "among others", "no value", "waiting", "flagged"]
    if rows:
        console.print_table("Rules", columns, rows)
    waiting = int(judged.waiting.sum())
    more = f", {waiting} waiting for an answer" if waiting else ""
    console.say(f"{int(judged.kept.sum())} clips kept, {int(judged.dropped.sum())} dropped{more}")
    if rules := calibrate_judged(judged):
        against = [
            (rule.rule, rule.n, rule.true_positives, rule.false_positives, rule.false_negatives, rule.true_negatives,
             _share(rule.precision), _share(rule.recall))
            for rule in rules
        ]  # fmt: skip
        columns = ["rule", "n", "drop, reject", "drop, keep", "keep, reject", "keep, keep", "precision", "recall"]
        console.print_table("Rules against people (95 % intervals)", columns, against)
        console.say(LIMITATION)


def _share(share: Share) -> str:
    if share.value is None:
        return f"none: {share.reason}"
    ends = percents(share.low, share.high)
    return percent(share.value) + (f" ({ends})" if ends else "")


def why(workspace: InWorkspace, clip: str) -> Answer:
    """Print the whole trail of a clip. It tells where it is from, what was measured, what was decided, and where it ended.

    Args:
        clip: A clip's id or its beginning, the path of its source, or SOURCE:FRAME; of what is added to, an item's id too.

    Example: inpaintbench curation why WORKSPACE "holiday.mp4:250"
    """
    opened = Workspace(workspace, create=False)
    lost = [row for row in opened.table("rejected", Rejection) if clip in (row.name, display_name(row.name))]
    if refused := [{"step": row.step, "reason": row.reason} for row in lost if not is_note(row.step)]:
        sentences = (f"{clip} gave no clip: refused by {row['step']}: {row['reason']}" for row in refused)
        return Answer({"name": clip, "refused": refused}, *sentences)
    published = _published_items(opened, clip)
    try:
        found = find_clip(opened, clip)
    except InputError:
        if not published:
            raise
        return Answer({"published": published}, *_as_published(published))
    story = trail(opened, found)
    return Answer(story, *_origin(story), *_judgements(story), *_as_published(published))


def _published_items(workspace: Workspace, name: str) -> list[Plain]:
    """Rows of the dataset that the workspace adds to whose item, clip or source is called ``name``."""
    added_to = appended(workspace)
    if added_to is None or not name:
        return []
    source, _, frame = name.rpartition(":")
    found = []
    for row in added_to.dataset.items:
        names = row["source_uri"], display_name(row["source_uri"])
        is_frame = source in names and frame.isdecimal() and row["start_frame"] <= int(frame) < row["end_frame"]
        if row["item_id"].startswith(name) or row["clip_id"].startswith(name) or name in names or is_frame:
            found.append(row)
    return found


def _as_published(rows: Sequence[Plain]) -> Iterator[str | Table]:
    """What the published dataset itself says of its items."""
    for row in rows:
        span = f"frames {row['start_frame']}..{row['end_frame'] - 1} of {display_name(row['source_uri'])}"
        yield f"item {row['item_id']}: published, clip {row['clip_id']}, {span}"
        facts = {name: row.get(name) for name in ("generator", "split", "licence", "author", "page_url")}
        yield _known("As published", facts | dict(row["attributes"]), ("name", "value"))


def _known(title: str, facts: Mapping[str, object], columns: tuple[str, str] = ("", "")) -> Table:
    return Table(title, columns, [(name, value) for name, value in facts.items() if value is not None])


def _origin(trail: Trail) -> Iterator[str | Table]:
    clip, source, download = trail.clip, trail.source, trail.download
    span = f"frames {clip.start_frame}..{clip.end_frame - 1}"
    of = display_name(source.uri) if source else f"the source {clip.source_id}, which is gone"
    size = f"{clip.width}x{clip.height}, {clip.frames} frames at {clip.fps:g} fps"
    yield f"clip {clip.clip_id}: {span} of {of} ({size})"
    if source:
        yield _known(
            "Source",
            {"found by": source.origin, "licence": source.licence, "author": source.author, "page": source.page_url,
             "bytes": source.bytes, "sha256": source.sha256},
        )  # fmt: skip
    if download:
        facts = {"url": download.url, "page": download.page_url, "licence": download.licence, "author": download.author,
                 "title": download.title, "rendition": download.rendition, "retrieved at": download.retrieved_at,
                 "status": download.status, "tries": download.tries}  # fmt: skip
        fields = {name: value for name, value in facts.items() if value is not None} | dict(download.details)
        if trail.check and trail.check.words:
            fields["licence when asked again"] = trail.check.words
        yield Table("Download", ["", ""], [(name, str(value)) for name, value in fields.items()])


def _judgements(trail: Trail) -> Iterator[str | Table]:
    """What was measured and decided, and the items that came of it."""
    measured = [
        ("clip" if row.subject_id == trail.clip.clip_id else "source", row.name, row.value, row.reason,
         *unit_and_direction(row.name), f"{row.producer} {row.producer_version}")
        for row in trail.facts
    ]  # fmt: skip
    columns = ["of", "name", "value", "reason", "unit", "direction", "producer"]
    yield Table("Measurements and labels", columns, measured)
    verdicts = [(row.rule, row.value, margin(row), "keep" if row.keep else "drop", row.reason) for row in trail.selections]
    if verdicts:
        yield Table("Rules", ["rule", "value", "margin", "verdict", "reason"], verdicts)
    else:
        yield "No rule has been applied to it."
    if trail.answers:
        answers = [(row.question, row.answer, row.reason, row.votes, row.agreement) for row in trail.answers]
        yield Table("Answers of people", ["question", "answer", "reason", "votes", "agreement"], answers)
    if trail.copies:
        rest = len(trail.copies) - _COPIES_SHOWN
        more = f" and {rest} more" if rest > 0 else ""
        yield f"Duplicates of it: {', '.join(trail.copies[:_COPIES_SHOWN])}{more}"
    if not trail.endings:
        yield "It is in no item."
        return
    items = [
        (end.item.item_id, end.corruption.generator if end.corruption else None, end.item.split, ", ".join(end.slices) or "none")
        for end in trail.endings
    ]
    yield Table("Items", ["item", "corruption", "split", "slices"], items)


def funnel(workspace: InWorkspace, *, out: Path | None = None, as_json: AsJson = False) -> Answer:
    """Write a page that shows what became of all footage, and why.

    Args:
        out: The HTML file. [default: WORKSPACE/funnel.html]

    Example: inpaintbench curation funnel WORKSPACE --out funnel.html
    """
    opened = Workspace(workspace, create=False)
    page, facts = write_funnel(opened, out or opened.path / "funnel.html"), dict[str, object]()
    if as_json:
        judged = _stored(opened)
        facts = {"page": page, "stages": stages(opened, judged), "rules": judged.counts()}
    return Answer(facts, f"Funnel: {console.shown(page)}")
