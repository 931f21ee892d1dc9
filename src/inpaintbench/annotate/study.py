"""The study: the file that a person writes, and what preparing it gives.

STUDY/
  study.json          resolved: questions, tasks, proxies
  proxies/<name>      what browsers play
  journal.sqlite      answers, unless a database is named
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from inpaintbench.annotate import languages
from inpaintbench.annotate.crowd import Codes, Crowd, Link, Qualify, Strict
from inpaintbench.annotate.questions import QUESTIONS
from inpaintbench.annotate.questions.base import Form, Question
from inpaintbench.catalogue import Catalogue, unknown_name
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.files import read_text, write_atomically
from inpaintbench.types import canonical_json, content_id

RULES: Catalogue[Any] = Catalogue(
    "screening rule",
    {
        "failed_gold": "inpaintbench.annotate.screening.own_answers:FailedGold",
        "unstable_repeats": "inpaintbench.annotate.screening.own_answers:UnstableRepeats",
        "side_bias": "inpaintbench.annotate.screening.own_answers:SideBias",
        "faster_than_clip": "inpaintbench.annotate.screening.own_answers:FasterThanClip",
        "signs_of_a_program": "inpaintbench.annotate.screening.own_answers:SignsOfAProgram",
        "straight_lining": "inpaintbench.annotate.screening.own_answers:StraightLining",
        "against_others": "inpaintbench.annotate.screening.against_raters:AgainstOthers",
        "erratic_ratings": "inpaintbench.annotate.screening.against_raters:ErraticRatings",
        "bt500": "inpaintbench.annotate.screening.against_raters:Bt500",
        "circular_triads": "inpaintbench.annotate.screening.own_answers:CircularTriads",
        "annotator_model": "inpaintbench.annotate.screening.against_raters:AnnotatorModel",
    },
    base="inpaintbench.annotate.screening.base:ScreeningRule",
)


# Of `study.json`; another one is refused.
FORMAT_VERSION = 1
MANIFEST = "study.json"
PROXIES = "proxies"
# What the demo's study calls the place of its films, which are in none.
DEMO_WORKSPACE = "embedded"
# The machine's own answer: never shown; shown once the rater has answered; chosen beforehand.
SuggestionMode = Literal["hidden", "after", "prefill"]


class Subjects(Strict):
    """Subjects of a study: clips of a workspace, or items of a frozen dataset with predictions of runs."""

    workspace: str | None = None
    dataset: str | None = None
    runs: tuple[str, ...] = ()
    """Run folders, whose predictions are the candidates."""
    methods: tuple[str, ...] = ()
    """Some of the runs' methods, by label; all by default."""
    decoys: tuple[str, ...] = ()
    """Methods that are shown in tasks with a known answer alone: results that nobody can mistake for good ones."""
    slices: tuple[str, ...] = ()
    """Slices of the dataset; all items by default."""
    clips: Literal["kept", "all"] = "all"
    """Clips of the workspace: those that rules keep, or all."""
    most: int | None = Field(None, ge=1, le=10**7)
    """So many clips or items, drawn by the study's seed."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Subjects:
        if (self.workspace is None) == (self.dataset is None):
            raise ValueError("name either a workspace or a dataset")
        if self.dataset is not None and not self.runs:
            raise ValueError("a dataset needs runs, whose predictions are judged")
        if self.workspace is not None and (self.runs or self.methods or self.slices or self.decoys):
            raise ValueError("runs, methods, decoys and slices belong to a dataset")
        return self


class QuestionSpec(Strict):
    """One question of a study; each name is an evaluation dimension of its own."""

    leaf: str
    name: str = ""
    """Unique in the study; the leaf's name by default."""
    title: str = ""
    instruction: str = ""
    """Instruction that raters read; the leaf's own by default."""
    constants: dict[str, Any] = Field(default_factory=dict)
    raters_per_task: int = Field(1, ge=1, le=10**5)
    must_watch: bool = True
    """Answers open once every frame was shown."""
    suggestion: SuggestionMode = "hidden"
    suggested_by: str | None = None
    """Attribute of the workspace that holds the machine's answer."""

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.name or self.leaf


class Checks(Strict):
    """Checks of raters: gold tasks and silent repeats."""

    gold: str | None = None
    """CSV file: subject, question, and the answers that are right; several in one field are divided by ``|``."""
    gold_share: float = Field(0.05, ge=0, le=0.5)
    """Share of gold among the tasks that a rater gets."""
    warmup: int = Field(0, ge=0, le=100)
    """First tasks of a rater, whose answers are stored and never counted: people settle on a scale of their own. BT.500 wants
    about five. They are tasks that lack votes least, and may be asked again as ordinary ones."""
    repeat_share: float = Field(0.05, ge=0, le=0.5)
    """Share of the tasks that a rater gets: asked once more, some time later, without a word."""
    repeat_gap: int = Field(10, ge=1, le=10**5)
    """Tasks between the two, at least."""
    window: int = Field(10, ge=1, le=10**5)
    """Last gold tasks of a rater that count; so many last repeats are told apart too."""
    least_accuracy: float = Field(0.7, ge=0, le=1)
    """Below it, over a full window, a rater is paused until an admin lets them go on. A coin passes 10 questions with two answers
    in 17 % of cases (at 0.6 in 38 %), with three in 2 %; who is right 19 times of 20 fails in 0.1 %."""


class StopRule(Strict):
    """Rule for when a comparison has votes enough."""

    kind: Literal["coverage", "stable_ranking"] = "coverage"
    """Every task has its raters; or, for questions about pairs, the order of the methods is settled before that."""
    level: float = Field(0.95, gt=0, lt=1)
    """Probability that no wrong order is ever called settled, however often one looks; and of the intervals of rankings."""
    fewest_votes: int = Field(50, ge=1, le=10**7)
    """Votes of each question, before it may be called stable."""


class Show(Strict):
    """Players and texts beside the candidates."""

    original: bool = True
    input: bool = True
    outline: bool = True
    prompt: str | None = None
    """Attribute of the clips or items that raters read above the players; ``prompts`` of an editing benchmark's items."""
    largest_side: int = Field(960, ge=64, le=3840)
    """Longest side of one player's picture in the proxy, in pixels; larger ones are made smaller."""


class RuleSpec(BaseModel):
    """A screening rule of a study: whether it acts by itself, and the constants of its leaf."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="allow", allow_inf_nan=False)

    auto: bool = False
    """What it flags is excluded without anybody's decision, while raters are at work."""

    @property
    def constants(self) -> dict[str, Any]:
        """Arguments of the rule's class."""
        return dict(self.model_extra or {})

    def built(self, name: str) -> Any:
        """The rule ``name`` with these constants: a ``screening.base.ScreeningRule``.

        Raises:
            UnknownNameError: no such rule.
            InputError: constants that it does not take.
        """
        try:
            return RULES.get(name)(**self.constants)
        except TypeError as error:
            raise InputError(f"screening rule {name!r} cannot be built with {self.constants}: {error}") from error


class Viewing(Strict):
    """What must be seen of a candidate's picture for an answer to be taken; the page says how to get there."""

    least_width: int = Field(120, ge=0, le=10**4)
    """CSS pixels of the smallest one."""
    least_scale: float = Field(0, ge=0, le=4)
    """Pixels of the screen for each pixel of the proxy; 1 shows all there is."""


class Media(Strict):
    """Where browsers fetch what they play; the study's own server gives it by default."""

    address: str = ""
    """``https://...`` of a folder that everybody may read, such as that of a CDN; or a bucket, ``s3://...``, whose addresses are
    signed for those who hold a task."""
    minutes: float = Field(60, ge=1, le=7 * 24 * 60)
    """So long a signed address holds."""


class Asked(Strict):
    """A question's texts in another language."""

    title: str = ""
    instruction: str = ""


class Spoken(Strict):
    """The study's texts in another language."""

    title: str = ""
    welcome: str = ""
    consent: str = ""
    """File, as that of ``[crowd]``."""
    consent_text: str = ""
    questions: dict[str, Asked] = Field(default_factory=dict)
    """Label of the question -> its texts."""
    words: dict[str, str] = Field(default_factory=dict)
    """Other texts as they stand in English -> in this language: parts and answers of a question of one's own, what explains
    practice, prompts."""
    page: str = ""
    """File with the words of the page, in a language in which the program has none."""


class StudyFile(Strict):
    """``study.toml``."""

    title: str
    welcome: str = ""
    """Text that raters read first."""
    seed: int = 0
    subjects: Subjects
    questions: tuple[QuestionSpec, ...] = Field(min_length=1)
    show: Show = Show()
    viewing: Viewing = Viewing()
    media: Media = Media()
    crowd: Crowd | None = None
    checks: Checks = Checks()
    screening: dict[str, RuleSpec] = Field(default_factory=dict)
    """Screening rule -> its constants: whose answers are proposed to count for nothing."""
    stop: StopRule = StopRule()
    languages: dict[str, Spoken] = Field(default_factory=dict)
    """Language, such as ``de``, besides English -> the texts in it."""
    lease_minutes: float = Field(20, gt=0, le=7 * 24 * 60)
    """So long a task that was handed out waits for its answer before others get it; a week at most."""

    @model_validator(mode="after")
    def _questions_differ(self) -> StudyFile:
        labels = [spec.label for spec in self.questions]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"{labels.count(label)} questions are called {label!r}; give each a name of its own")
        subjects = [QUESTIONS.get(spec.leaf).subject for spec in self.questions]
        if self.stop.kind == "stable_ranking" and "pair" not in subjects:
            named = ", ".join(repr(label) for label in labels)
            raise ValueError(
                f"stop: stable_ranking looks at comparisons of pairs, and none of the questions {named} makes any; "
                f"ask pairwise, or choose kind = 'coverage'"
            )
        return self

    @model_validator(mode="after")
    def _rules_exist(self) -> StudyFile:
        for name, spec in self.screening.items():
            try:
                rule = spec.built(name)
            except InpaintBenchError as error:
                raise ValueError(f"screening: {error}") from error
            if spec.auto and rule.only_proposes:
                raise ValueError(f"screening: {name} cannot act by itself, since {rule.only_proposes}; leave out auto")
        return self


@dataclass(frozen=True)
class Tile:
    """A rectangle of the proxy's picture that one player draws. Pixels."""

    role: Literal["original", "input", "candidate", "outline", "mask", "clip"]
    """``outline``: white lines on black around the hole. ``mask``: white where the other pictures differ from the original, over
    which players lay them; they are black elsewhere."""
    candidate: str | None
    """Method label; for role ``candidate`` alone."""
    x: int
    y: int
    width: int
    height: int


# Roles of tiles that hold patches where a sheet has a mask.
PATCHED = ("input", "candidate")


@dataclass(frozen=True)
class Proxy:
    """All pictures of a task, tiled in one video or one PNG: they cannot drift apart."""

    name: str
    """File in ``proxies/``: hex digits and ``.mp4`` or ``.png``, so it tells raters nothing."""
    frames: int
    fps: float
    width: int
    height: int
    tiles: tuple[Tile, ...]
    psnr_db: float | None = None
    """Of luma against what was made, over the first frames; None where nothing is lost or nobody measured it."""
    flicker_added: float | None = None
    """Flicker that encoding adds, in levels of 255; see ``preparing.proxies``."""
    bytes: int = 0
    """Of the file; all proxies of a subject have as many."""
    light: str = ""
    """Name of a file with the same tiles in fewer bytes, for slow lines; none where that would be no smaller."""
    light_bytes: int = 0
    light_flicker_added: float | None = None


@dataclass(frozen=True)
class StudyTask:
    """One question about one subject; answered by several raters."""

    task_id: str
    question: str
    """Label of the question."""
    subject_id: str
    """Clip or item."""
    cluster: str
    """Source of the subject; intervals resample these."""
    candidates: tuple[str, ...]
    """Method labels, sorted; none for clips."""
    proxy: str
    """Name of the proxy."""
    caption: str = ""
    """Name of the task for admins; never shown to raters of comparisons."""
    suggestion: str | None = None
    """Option of the main part that the machine would choose."""
    gold: tuple[str, ...] = ()
    """Right choices, in the names that votes are counted over; a gold task when there are any."""
    prompt: str = ""
    """Text that raters read above the players."""
    use: Literal["", "training", "test", "honey"] = ""
    """Part of a crowd's practice or test, with the right choices in ``gold``; asked of nobody otherwise. ``honey``: see
    ``Crowd.honey``; ``gold`` is what its pictures ask for."""
    why: str = ""
    """Explanation of the right answer, shown after practice."""
    tolerance: int = 0
    """Steps of the scale that an answer may lie away from ``gold`` and still passes as a check; the label stays that of gold."""


@dataclass(frozen=True)
class Study:
    """Prepared study, the content of ``study.json``. ``study_id`` is derived from everything that raters see."""

    study_id: str
    file: StudyFile
    tasks: tuple[StudyTask, ...]
    proxies: Mapping[str, Proxy]
    """Name -> proxy."""
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """Inputs of the study: dataset content or workspace clips -> hash."""

    @cached_property
    def task_of(self) -> dict[str, StudyTask]:
        """Task id -> task."""
        return {task.task_id: task for task in self.tasks}

    @cached_property
    def question_of(self) -> dict[str, Question]:
        """Label -> the question leaf, built."""
        return {spec.label: build_question(spec) for spec in self.file.questions}

    def passes(self, task: StudyTask, choice: str) -> bool:
        """Return whether an answer to a gold task is right, or so few steps off as its tolerance allows."""
        if choice in task.gold or not task.tolerance:
            return choice in task.gold
        question = self.question_of[task.question]
        steps = [option.value for option in question.parts()[0].options if option.value not in question.unsure]
        places = [steps.index(right) for right in task.gold if right in steps]
        return choice in steps and any(abs(steps.index(choice) - place) <= task.tolerance for place in places)

    def watch_seconds(self, task: StudyTask) -> float:
        """Seconds that the clip of a task lasts where raters have to watch it; 0 where not, and of pictures."""
        proxy = self.proxies.get(task.proxy)
        if proxy is None or proxy.frames < 2 or not self.spec_of[task.question].must_watch:
            return 0.0
        return proxy.frames / proxy.fps

    @cached_property
    def spec_of(self) -> dict[str, QuestionSpec]:
        """Label -> what the study file says of the question."""
        return {spec.label: spec for spec in self.file.questions}

    @cached_property
    def spoken(self) -> dict[str, languages.Speech]:
        """Languages that raters may see: those in which no text of a page would be missing. English is always one."""
        offered = {name: languages.Speech(name, self.words_in(name)) for name in self.file.languages}
        whole = {name: speech for name, speech in offered.items() if not self.unsaid(speech)}
        return {languages.ENGLISH: languages.Speech(), **whole}

    def words_in(self, language: str) -> languages.Words:
        """English text -> that of a language: the page's and the study's own."""
        spoken, crowd, none = self.file.languages[language], self.file.crowd, Asked()
        own = [(self.file.title, spoken.title), (self.file.welcome, spoken.welcome)]
        own += [(crowd.consent_text, spoken.consent_text)] if crowd is not None else []
        for spec in self.file.questions:
            asked = spoken.questions.get(spec.label, none)
            own += [(spec.title, asked.title), (spec.instruction, asked.instruction)]
        texts = {english: text for english, text in own if english and text.strip()}
        return {**languages.words_of(language), **spoken.words, **texts}

    def unsaid(self, speech: languages.Speech) -> str:
        """A text of the study or of the page that a language lacks, or that has other values there; empty where it has all."""
        page = languages.words_of(languages.shipped()[0])
        texts = [self.file.title, self.file.welcome, *page]
        texts += [self.file.crowd.consent_text] if self.file.crowd is not None else []
        for task in {task.question: task for task in self.tasks}.values():
            form = self.form(task)
            texts += [form.title, form.instruction]
            for part in form.parts:
                texts += [part.prompt, *(option.label for option in part.options)]
        texts += [text for task in self.tasks for text in (task.why, task.prompt)]
        # Letters of candidates and shares in per cent are the same in all.
        said = {text: speech.words.get(text, "") for text in texts if re.search(r"[^\W\d_]{2}", text)}
        places = languages.places
        return next((text for text, own in said.items() if not own or (text in page and places(own) != places(text))), "")

    def form(self, task: StudyTask) -> Form:
        """Form of ``task``, with the study's own words."""
        spec = self.spec_of[task.question]
        form = self.question_of[task.question].form(candidates=len(task.candidates))
        return Form(spec.title or form.title, spec.instruction or form.instruction, form.parts)


def missing_words(study: Study) -> Iterator[str]:
    """What the languages of a study lack, a sentence each."""
    for language in sorted(set(study.file.languages) - set(study.spoken)):
        words = study.words_in(language)
        lacking = study.unsaid(languages.Speech(language, words))
        shown, known = " ".join(lacking.split())[:80], languages.shipped()
        if words.get(lacking):
            yield f"languages.{language}: the text for {shown!r} needs the same values in braces, and no other brace"
        elif language not in known and lacking in languages.words_of(known[0]):
            offered = f"it comes in {', '.join(known)}; name a file with the others in page"
            yield f"languages.{language}: the page has no words for {shown!r}; {offered}"
        else:
            yield f"languages.{language} has nothing for {shown!r}, and nobody is shown pages half in English; give all texts"


def build_question(spec: QuestionSpec) -> Question:
    """The leaf of ``spec``.

    Raises:
        UnknownNameError: no such question.
        InputError: constants that it does not take.
    """
    leaf = QUESTIONS.get(spec.leaf)
    try:
        question: Question = leaf(**spec.constants)
    except TypeError as error:
        raise InputError(f"question {spec.leaf!r} cannot be built with {spec.constants}: {error}") from error
    return question


def read_study_file(path: Path) -> StudyFile:
    """Read ``study.toml``; relative paths in it are relative to its folder.

    Raises:
        InputError: not readable, not TOML, a field is missing, unknown or out of range.
    """
    try:
        fields = tomllib.loads(read_text(path))
    except OSError as error:
        raise InputError(f"study file {str(path)!r} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"study file {str(path)!r} cannot be read: {error}") from error
    return parse_study(fields, where=str(path), folder=path.parent)


def parse_study(fields: Mapping[str, Any], *, where: str, folder: Path) -> StudyFile:
    """The study of ``fields``, with its paths below ``folder`` unless they are absolute.

    Raises:
        InputError: as ``read_study_file``.
    """
    try:
        file = StudyFile.model_validate(fields)
    except ValidationError as error:
        # On a misspelt field before others: what it should have been is then missing elsewhere.
        fault = min(error.errors(), key=lambda error: error["type"] != "extra_forbidden")
        place, message = list(fault["loc"]), fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            models = (
                StudyFile, Subjects, QuestionSpec, Checks, StopRule, Show, Viewing, Media, Spoken, Asked, Crowd, Codes, Link,
                Qualify,
            )  # fmt: skip
            known = dict.fromkeys(name for model in models for name in model.model_fields)
            name = str(place.pop())
            message = f"the field {name!r} belongs to another table" if name in known else unknown_name("field", name, known)
        raise InputError(f"{where}: {_place(place)}: {message}" if place else f"{where}: {message}") from error
    subjects, checks, crowd = file.subjects, file.checks, file.crowd
    runs = tuple(str(_below(folder, run)) for run in subjects.runs)
    placed = {"workspace": _below(folder, subjects.workspace), "dataset": _below(folder, subjects.dataset), "runs": runs}
    subjects = subjects.model_copy(update=placed)
    checks = checks.model_copy(update={"gold": _below(folder, checks.gold)})

    def text_of(field: str, path: str) -> str:
        try:
            return read_text(folder / path)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{where}: {field} {path!r} cannot be read: {error}") from error

    spoken: dict[str, Spoken] = {}
    for language, one in file.languages.items():
        if not re.fullmatch("[a-z0-9-]{1,35}", language.lower()) or language.lower() in spoken:
            wanted = "a language is named once, as browsers name it, such as de or pt-br"
            raise InputError(f"{where}: languages.{language}: {wanted}")
        said = text_of(f"languages.{language}.consent", one.consent) if one.consent else one.consent_text
        page = languages.parsed(text_of(f"languages.{language}.page", one.page), where=one.page) if one.page else {}
        texts = {"consent": "", "consent_text": said, "words": {**page, **one.words}, "page": ""}
        spoken[language.lower()] = one.model_copy(update=texts)
    if crowd is not None:
        text = text_of("crowd.consent", crowd.consent) if crowd.consent else crowd.consent_text
        if not text.strip():
            raise InputError(f"{where}: crowd: strangers read first what they consent to; name its file in crowd.consent")
        others = tuple(str(_below(folder, other)) for other in crowd.exclude_studies)
        for other in others:
            if not (Path(other) / MANIFEST).is_file():
                raise InputError(f"{where}: crowd.exclude_studies names {other!r}, which is no prepared study (no {MANIFEST})")
        files = {"training": _below(folder, crowd.qualify.training), "test": _below(folder, crowd.qualify.test)}
        qualify = crowd.qualify.model_copy(update=files)
        keys = crowd.keys if "://" in crowd.keys else _below(folder, crowd.keys)
        told = {"consent": "", "consent_text": text, "exclude_studies": others, "qualify": qualify, "keys": keys}
        crowd = crowd.model_copy(update=told)
    return file.model_copy(update={"subjects": subjects, "checks": checks, "crowd": crowd, "languages": spoken})


def _place(parts: Sequence[str | int]) -> str:
    """``questions number 2: raters_per_task``; people count from 1."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f" number {part + 1}"
        else:
            text += ("" if not text else ": " if text[-1].isdigit() else ".") + part
    return text


def _below(folder: Path, path: str | None) -> str | None:
    return None if path is None else str((folder / path).resolve())


def task_id(question: str, subject_id: str, candidates: tuple[str, ...]) -> str:
    """The id of a task."""
    return content_id("task", question, subject_id, list(candidates))


def study_id(file: StudyFile, tasks: tuple[StudyTask, ...]) -> str:
    """The id of a study: another title or place of files is the same study, other questions or pictures are not."""
    questions = [spec.model_dump(mode="json") for spec in file.questions]
    return content_id("study", questions, file.seed, [[task.task_id, task.proxy, task.prompt] for task in tasks])


def save(study: Study, folder: Path) -> None:
    """Write ``study.json``."""
    fields = {
        "format_version": FORMAT_VERSION,
        "study_id": study.study_id,
        "file": study.file.model_dump(mode="json"),
        "tasks": [asdict(task) for task in study.tasks],
        "proxies": {name: asdict(proxy) for name, proxy in sorted(study.proxies.items())},
        "fingerprints": dict(study.fingerprints),
    }
    write_atomically(folder / MANIFEST, canonical_json(fields).encode() + b"\n")


def load(folder: Path) -> Study:
    """Read a prepared study.

    Raises:
        InputError: none there, damaged, or of another format.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{str(folder)!r} is not a prepared study (no {MANIFEST}); run `inpaintbench annotate prepare`")
    try:
        fields = json.loads(path.read_text())
        if fields["format_version"] != FORMAT_VERSION:
            raise InputError(f"study {str(folder)!r} has format {fields['format_version']}, this program reads {FORMAT_VERSION}")
        tasks, proxies = [], {}
        for row in fields["tasks"]:
            tasks.append(StudyTask(**{**row, "candidates": tuple(row["candidates"]), "gold": tuple(row["gold"])}))
        for name, row in fields["proxies"].items():
            proxies[name] = Proxy(**{**row, "tiles": tuple(Tile(**tile) for tile in row["tiles"])})
        file = StudyFile.model_validate(fields["file"])
        return Study(fields["study_id"], file, tuple(tasks), proxies, fields["fingerprints"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{str(path)!r} is damaged: {error}") from error
