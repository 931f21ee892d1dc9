"""Contents of a submission, and its rows as JSON: written from a run folder, read from strangers.

submission.json       what was run on what, with the SHA-256 of the other files
card.toml             what the submitters say of the method
scores.jsonl          a row for each item, metric and region
slice_scores.jsonl    a row for each slice and metric that compares sets of items
predictions/NAME      with --predictions: the files that were scored, named by their SHA-256
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import resources
from typing import Any, TypeVar
from urllib.parse import urlsplit

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.scoring.effort import BETWEEN_ITEMS, Effort
from inpaintbench.eval.scoring.run_folder import PROOFS
from inpaintbench.table_files import canonical_bytes
from inpaintbench.types import Plain, Prediction, Score, SliceScore

MOST_BYTES = 64_000
# Letters of one text.
MOST_LETTERS = 4000
MOST_NAME_LETTERS = 80
MOST_AUTHORS = 100
REQUIRED = ("title", "summary", "model", "preprocessing", "training_data", "loss")
OPTIONAL = ("authors", "parameters", "pretrained", "postprocessing", "compute", "licence", "citation", "links")
LINKS = ("paper", "code", "weights", "project")
# A spreadsheet runs a cell that begins so.
_FORMULA = ("=", "+", "-", "@")


@dataclass(frozen=True)
class Card:
    """A method as its submitters describe it."""

    title: str
    authors: tuple[str, ...]
    """As they write themselves; may be empty."""
    texts: dict[str, str]
    """Field -> what was written; fields left empty are not there."""
    links: dict[str, str]
    """``paper``, ``code``, ``weights`` or ``project`` -> an address of http or https."""


def template() -> bytes:
    """A card to fill in, with a comment on every field."""
    return resources.files(__package__).joinpath("card.toml").read_bytes()


def read_card(data: bytes) -> Card:
    """The card in a TOML file.

    Raises:
        InputError: not TOML, too long, a field that is missing, unknown or of another kind, hidden characters, or a link that is
            not a plain address of http or https.
    """
    if len(data) > MOST_BYTES:
        raise InputError(f"the method card has {len(data):,} bytes; {MOST_BYTES:,} are the most")
    try:
        fields: dict[str, Any] = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise InputError(f"the method card is not TOML: {error}") from error
    for name in fields:
        if name not in REQUIRED + OPTIONAL:
            raise UnknownNameError(unknown_name("field of the method card", name, [*REQUIRED, *OPTIONAL]))
    names = [name for name in REQUIRED + OPTIONAL if name not in ("authors", "links")]
    texts = {name: checked_text(fields.get(name, ""), f"{name!r} of the method card").strip() for name in names}
    empty = [name for name in REQUIRED if not texts[name]]
    if empty:
        raise InputError(f"the method card says nothing of {', '.join(empty)}; fill that in, with “none” where there is none")
    title = checked_name(texts.pop("title"), "title of the method card")
    authors, links = fields.get("authors", []), fields.get("links", {})
    if not isinstance(authors, list) or len(authors) > MOST_AUTHORS:
        raise InputError(f"'authors' of the method card is not a list of at most {MOST_AUTHORS} names, such as [\"A. Name\"]")
    named = tuple(checked_name(name, "author on the method card", most=200) for name in authors)
    if not isinstance(links, dict):
        raise InputError("'links' of the method card is not a table, such as [links] with a line paper = \"https://...\"")
    for name in links:
        if name not in LINKS:
            raise UnknownNameError(unknown_name("link of the method card", name, list(LINKS)))
    checked = {name: checked_link(link) for name, link in links.items() if link != ""}
    return Card(title, named, {name: text for name, text in texts.items() if text}, checked)


def checked_link(link: Any) -> str:
    """``link`` when it is a plain address of http or https.

    Raises:
        InputError: it is not, or it holds a password, spaces or hidden characters.
    """
    plain = (
        isinstance(link, str) and len(link) <= 2000 and link.isascii() and link.isprintable() and not set(link) & set(" \"'<>\\`")
    )
    try:
        parts = urlsplit(link) if plain else None
        good = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        good = False
    if not good:
        raise InputError(f"link {str(link)[:80]!r} of the method card is not a plain address of http or https")
    return str(link)


def checked_name(name: Any, what: str, *, most: int = MOST_NAME_LETTERS) -> str:
    """A name of one line that no spreadsheet takes for a formula.

    Raises:
        InputError: it is another thing.
    """
    text = checked_text(name, what, most=most)
    if not text.strip() or text != text.strip() or "\n" in text or "\t" in text or text.startswith(_FORMULA):
        raise InputError(
            f"{what} {text!r} is not a name: one line, no spaces at its ends, not beginning with {' '.join(_FORMULA)}"
        )
    return text


def checked_text(text: Any, what: str, *, most: int = MOST_LETTERS) -> str:
    """A text that shows all it holds: no control characters, nothing that turns the direction of letters.

    Raises:
        InputError: it is another thing, or longer than ``most`` letters.
    """
    if not isinstance(text, str):
        raise InputError(f"{what} is {str(text)[:80]!r}, not a text")
    if len(text) > most:
        raise InputError(f"{what} has {len(text):,} letters; {most:,} are the most")
    hidden = next(
        (letter for letter in text if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co") and letter not in "\n\t"), ""
    )
    if hidden:
        raise InputError(f"{what} holds the hidden character U+{ord(hidden):04X}; take it out")
    return text


FORMAT_VERSION = 1
HEADER, CARD, SCORES, SLICE_SCORES, PREDICTIONS = (
    "submission.json", "card.toml", "scores.jsonl", "slice_scores.jsonl", "predictions/",
)  # fmt: skip
BLOB = re.compile(r"[0-9a-f]{64}\.(mp4|png)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
# Fields of the header that are left out where they say nothing.
_MAY_LACK: Plain = {"reference": False, "effort": {}, "measured": {}}
_FEATURES = re.compile(r"[0-9a-f]{64}\.npy")
# No measured number comes near it, and sums of squares of larger ones overflow.
_LARGEST = 1e100
# Sentences on a method's task.
_MOST_SENTENCES = 20
_NUMBERS = ("value", "standard_error", "interval_low", "interval_high")
Row = TypeVar("Row", Score, SliceScore)


@dataclass(frozen=True)
class Header:
    """``submission.json``."""

    format_version: int
    method: str
    """Label of the method in its run folder."""
    dataset: str
    manifest_sha256: str
    """SHA-256 of the dataset's manifest."""
    protocol: str
    fingerprint: str
    constants: Plain
    """Constants of the protocol."""
    versions: Plain
    """Versions of this program, of Python and of the packages that measure, where the scores were packed."""
    predictions: Plain
    """Item id -> ``{"blob", "full_frames", "largest_change_outside", "method_version"}``, perhaps ``"ceiling_db"``."""
    failures: Plain
    """Item id -> why there is no prediction."""
    files: Plain
    """Path in the submission -> SHA-256."""
    reference: bool = False
    """True when the method is a floor that does not compete; not in the file where it is not."""
    effort: Plain = field(default_factory=dict)
    """What the method took in the submitters' run, the fields of ``Effort`` that tell something; not in the file without any."""
    measured: Plain = field(default_factory=dict)
    """Item id -> SHA-256 of the ``truth``, ``hole``, ``input`` and ``prediction`` that its scores were measured of; not in the
    file where nobody recorded them."""

    def prediction(self, item_id: str) -> Prediction:
        """The prediction of one item, as a row of a run folder."""
        return Prediction(method=self.method, item_id=item_id, **self.predictions[item_id])


def header_bytes(header: Header) -> bytes:
    """``header`` as the file it is kept in."""
    told = {name: value for name, value in asdict(header).items() if name not in _MAY_LACK or value}
    return canonical_bytes(told)


def read_header(data: bytes) -> Header:
    """The header in a file.

    Raises:
        InputError: it is not one, or of another format.
    """
    given = parsed(data, HEADER)
    kinds: dict[str, type] = {field.name: dict for field in fields(Header)} | {"format_version": int}
    kinds |= {"reference": bool}
    kinds |= dict.fromkeys(("method", "dataset", "manifest_sha256", "protocol", "fingerprint"), str)
    if not isinstance(given, dict) or given.get("format_version") != FORMAT_VERSION:
        found = given.get("format_version") if isinstance(given, dict) else None
        raise InputError(f"{HEADER} has format {str(found)[:20]!r}, this program reads {FORMAT_VERSION}")
    given = {**_MAY_LACK, **given}
    _check_fields(given, kinds, HEADER)
    for item_id, one in given["predictions"].items():
        _check_prediction(item_id, one)
    for name in ("failures", "files", "versions"):
        if not all(isinstance(text, str) for text in given[name].values()):
            raise InputError(f"{name!r} of {HEADER} holds something else than texts")
    _check_effort(given["effort"])
    for item_id, hashes in given["measured"].items():
        known = isinstance(hashes, dict) and hashes.keys() <= {*PROOFS, "prediction"}
        if not known or not all(isinstance(sha256, str) and _SHA256.fullmatch(sha256) for sha256 in hashes.values()):
            raise InputError(f"what item {item_id[:80]!r} was measured of is {str(hashes)[:80]!r} in {HEADER}, no SHA-256 a part")
    return Header(**given)


def _check_effort(given: Mapping[str, Any]) -> None:
    known = {one.name for one in fields(Effort) if one.compare}
    for name, value in given.items():
        where = f"{name[:80]!r} of the effort in {HEADER}"
        if name not in known:
            raise InputError(f"{where} is unknown")
        if name == "task":
            if not isinstance(value, list) or len(value) > _MOST_SENTENCES:
                raise InputError(f"{where} is {str(value)[:80]!r}, no list of {_MOST_SENTENCES} sentences at most")
            for text in value:
                checked_text(text, where)
        elif name == "between_items":
            if value not in BETWEEN_ITEMS:
                raise InputError(f"{where} is {str(value)[:80]!r}, none of {', '.join(BETWEEN_ITEMS)}")
        elif name == "machine":
            checked_text(value, where)
        elif not isinstance(value, int | float) or not (_number(value, where) or 0) > 0:
            raise InputError(f"{where} is {str(value)[:80]!r}, no number above 0")


def _check_prediction(item_id: str, one: Any) -> None:
    kinds: dict[str, Any] = {"blob": str, "full_frames": bool, "largest_change_outside": int, "method_version": str}
    where = f"the prediction of item {item_id[:80]!r} in {HEADER}"
    if not isinstance(one, dict):
        raise InputError(f"{where} is {str(one)[:80]!r}")
    if "ceiling_db" in one:  # of programs alone that write results with loss
        kinds |= {"ceiling_db": (int, float)}
    _check_fields(one, kinds, where)
    _number(one.get("ceiling_db"), f"ceiling_db of {where}")
    if not BLOB.fullmatch(one["blob"]):
        raise InputError(f"{where} names the file {one['blob'][:80]!r}, which is no SHA-256 with .mp4 or .png")


def rows_bytes(rows: Iterable[Score | SliceScore]) -> bytes:
    """A line of JSON for each row; infinity is the text ``inf``. What it was measured of stands in the header, once an item."""
    told = (asdict(row) for row in rows)
    return b"".join(canonical_bytes({name: value for name, value in row.items() if name != "measured"}) for row in told)


def read_rows(data: bytes, kind: type[Row], where: str) -> list[Row]:
    """Rows from a file.

    Raises:
        InputError: a line that is not such a row, or a number that is none.
    """
    names = [field.name for field in fields(kind) if field.name != "measured"]
    kinds: dict[str, Any] = dict.fromkeys(names, str) | ({"details": dict} if "details" in names else {})
    kinds |= {name: (str, type(None)) for name in ("reason", "features", "truth_features") if name in names}
    kinds |= {name: (int, float, str, type(None)) for name in _NUMBERS if name in names}
    rows = []
    for number, line in enumerate(data.splitlines(), 1):
        place = f"line {number} of {where}"
        given = parsed(line, place)
        if not isinstance(given, dict):
            raise InputError(f"{place} is not a row of scores")
        _check_fields(given, kinds, place)
        for name in (name for name in _NUMBERS if name in kinds):
            given[name] = _number(given[name], f"{name} in {place}")
        for name in ("features", "truth_features"):
            if given.get(name) is not None and not _FEATURES.fullmatch(given[name]):
                raise InputError(f"{name} in {place} is {given[name][:80]!r}, no SHA-256 with .npy")
        rows.append(kind(**given))
    return rows


def _number(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if value == "inf":
        return math.inf
    try:
        number = math.nan if isinstance(value, str | bool) else float(value)
    except OverflowError:
        number = math.nan
    if not abs(number) <= _LARGEST:
        raise InputError(f'{where} is {str(value)[:40]!r}: a number, null with a reason, or "inf"')
    return number


def _check_fields(given: Mapping[str, Any], kinds: Mapping[str, Any], where: str) -> None:
    for name in [*given, *kinds]:
        if name not in kinds or name not in given:
            raise InputError(f"{where} has {'an unknown' if name in given else 'no'} field {name[:80]!r}")
        # To Python, True is a whole number.
        if not isinstance(given[name], kinds[name]) or (isinstance(given[name], bool) and kinds[name] is not bool):
            raise InputError(f"{name!r} of {where} is {str(given[name])[:80]!r}")


def parsed(data: bytes, where: str) -> Any:
    """JSON as strangers may send it.

    Raises:
        InputError: not JSON, NaN or an infinite number, or a key that comes twice.
    """

    def refuse(text: str) -> None:
        raise ValueError(f"{text} is not a number of JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key comes twice")
        return found

    try:
        return json.loads(data, parse_constant=refuse, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}") from error
