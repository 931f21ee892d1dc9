"""Prolific's API and MTurk's, as their documentation says they behave, on this machine; every payment is counted."""

from __future__ import annotations

import contextlib
import json
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

TOKEN = "a-secret-of-ours"
STUDY = f"{0xA5:024x}"
_MOST_BONUSES = 200
# Transition -> status before -> status then.
_MOVES = {
    "APPROVE": ("AWAITING REVIEW", "APPROVED"), "REJECT": ("AWAITING REVIEW", "REJECTED"),
    "SCREEN_OUT": ("AWAITING REVIEW", "SCREENED OUT"),
}  # fmt: skip


class NoAnswer(Exception):
    """The connection is cut instead of an answer."""


@dataclass
class Taken:
    """A submission there."""

    participant: str
    status: str = "AWAITING REVIEW"
    rewards: int = 0
    """Times that the reward was paid."""
    bonuses: list[int] = field(default_factory=list)
    """Cents of each payment."""
    asked_back: int = 0
    said: list[str] = field(default_factory=list)
    """Reasons that the person was sent."""


@dataclass
class Platform:
    """What the platform knows, and what goes wrong on the way to it."""

    submissions: dict[str, Taken] = field(default_factory=dict)
    studies: list[dict[str, Any]] = field(default_factory=list)
    batches: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    """Token of a bonus on MTurk -> id of the request that paid it."""
    asked: list[str] = field(default_factory=list)
    """Method and path (or operation) of every request."""
    screens_out: bool = False
    """The workspace has fixed screen-out payments."""
    late: tuple[float, float] = (0.0, 0.2)
    """Seconds after which bonuses that were taken are paid."""
    faults: float = 0.0
    """Share of requests that meet too many others, or a server that fails before it does anything."""
    refused: set[str] = field(default_factory=set)
    """Submissions to which no bonus can be paid."""
    before: Callable[[str], None] = lambda _: None
    """Called with the path before anything is done."""
    after: Callable[[str], None] = lambda _: None
    """Called when it is done and not yet answered."""
    origin: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)
    timers: list[threading.Timer] = field(default_factory=list)
    rng: random.Random = field(default_factory=lambda: random.Random(5))

    def pay_later(self, lines: list[tuple[str, int]]) -> None:
        def pay() -> None:
            with self.lock:
                for name, cents in lines:
                    self.submissions[name].bonuses.append(cents)

        self.timers.append(threading.Timer(self.rng.uniform(*self.late), pay))
        self.timers[-1].start()

    def all_paid(self) -> None:
        """Wait until no payment is on its way."""
        for timer in self.timers:
            timer.join()

    def prolific(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        words = path.strip("/").split("/")[2:]
        match method, words:
            case "GET", ["submissions", name] if name in self.submissions:
                return 200, self._shown(name)
            case "POST", ["submissions", "bonus-payments"]:
                lines = [line.split(",") for line in body["csv_bonuses"].split("\n")]
                if wrong := [name for name, _ in lines if name not in self.submissions or name in self.refused]:
                    return 400, _error(f"ids that did not take part: {', '.join(wrong)}")
                if len(lines) > _MOST_BONUSES or body["study_id"] != STUDY:
                    return 400, _error("too many lines, or another study")
                key = f"{len(self.batches) + 0xB0000:024x}"
                self.batches[key] = [(name, round(float(amount) * 100)) for name, amount in lines]
                total = sum(cents for _, cents in self.batches[key])
                return 201, {"id": key, "study": STUDY, "amount": total, "fees": 0, "vat": 0, "total_amount": total}
            case "POST", ["bulk-bonus-payments", key, "pay"] if key in self.batches:
                self.pay_later(self.batches[key])  # every time: it is not idempotent
                return 202, f"Bulk bonus payment with ID {key} is being processed asynchronously."
            case "POST", ["submissions", name, "transition"] if name in self.submissions:
                return self._move(name, body)
            case "POST", ["submissions", name, "request-return"] if name in self.submissions:
                self.submissions[name].asked_back += 1
                self.submissions[name].said += body["request_return_reasons"]
                return 200, {key: self._shown(name)[key] for key in ("id", "status", "participant", "return_requested")}
            case "GET", ["studies"]:
                return 200, {"results": [{key: one.get(key) for key in ("id", "internal_name", "name")} for one in self.studies]}
            case "POST", ["studies"]:
                self.studies.append({**body, "id": f"{0xD0 + len(self.studies):024x}", "status": "UNPUBLISHED"})
                return 201, self.studies[-1]
            case "GET", ["studies", study]:
                return 200, {"id": study, "status": "ACTIVE", "total_available_places": 520}
            case "GET", ["studies", _, "submissions", "counts"]:
                states = [one.status for one in self.submissions.values()]
                return 200, {**{state: states.count(state) for state in set(states)}, "TOTAL": len(states)}
        return 404, _error("Not found.")

    def _shown(self, name: str) -> dict[str, Any]:
        one = self.submissions[name]
        return {
            "id": name, "started_at": "2026-01-01T00:00:00Z", "status": one.status, "study_id": STUDY,
            "participant": one.participant,
            "bonus_payments": [float(cents) for cents in one.bonuses],
            "return_requested": "2026-01-01T00:00:00Z" if one.asked_back else None,
        }  # fmt: skip

    def _move(self, name: str, body: dict[str, Any]) -> tuple[int, Any]:
        one, (before, then) = self.submissions[name], _MOVES[body["action"]]
        if one.status not in (before, then):
            return 400, _error(f"a submission that is {one.status} cannot become {then}")
        if body["action"] == "REJECT" and (len(body["message"]) < 100 or not body["rejection_category"]):
            return 400, _error({"message": ["at least 100 characters"]})
        if body["action"] == "SCREEN_OUT" and not (self.screens_out and body.get("completion_code")):
            return 400, _error("the study has no fixed screen-out payment")
        if one.status == before:  # idempotent: a second request is ignored
            one.status, one.rewards = then, one.rewards + (then == "APPROVED")
        return 200, self._shown(name)

    def mturk(self, operation: str, body: dict[str, Any]) -> tuple[int, Any]:
        name = body.get("AssignmentId", "")
        one = self.submissions.get(name)
        if operation == "GetHIT":
            return 200, {"HIT": {"HITId": body["HITId"], "HITStatus": "Assignable", "MaxAssignments": 520,
                                 "NumberOfAssignmentsCompleted": 3}}  # fmt: skip
        if one is None:
            return _turk(f"Assignment {name} does not exist.")
        if operation == "GetAssignment":
            shown = {"AssignmentId": name, "WorkerId": one.participant, "HITId": "H1T", "AssignmentStatus": one.status}
            return 200, {"Assignment": shown}
        if operation in ("ApproveAssignment", "RejectAssignment"):
            if one.status != "Submitted":
                return _turk(f"This operation can be called with a status of: Submitted, and it is {one.status}")
            one.status = operation.partition("Assignment")[0] + ("d" if operation[0] == "A" else "ed")
            one.rewards += operation[0] == "A"
            one.said.append(body.get("RequesterFeedback", ""))
            return 200, {}
        if operation == "ListBonusPayments":
            ours = {"WorkerId": one.participant, "AssignmentId": name}
            paid = [{**ours, "BonusAmount": f"{cents / 100:.2f}"} for cents in one.bonuses]
            first, most = int(body.get("NextToken", 0)), body["MaxResults"]
            more = {"NextToken": str(first + most)} if first + most < len(paid) else {}
            return 200, {"BonusPayments": paid[first : first + most], "NumResults": len(paid), **more}
        assert operation == "SendBonus"
        if request := self.tokens.get(body["UniqueRequestToken"]):
            return _turk(f"The bonus was granted by the request {request}.")
        self.tokens[body["UniqueRequestToken"]] = f"R{len(self.tokens)}"
        one.bonuses.append(round(float(body["BonusAmount"]) * 100))
        return 200, {}


def _error(detail: object) -> dict[str, Any]:
    return {"error": {"status": 400, "error_code": 140001, "title": "Bad request", "detail": detail}}


def _turk(message: str) -> tuple[int, Any]:
    return 400, {"__type": "RequestError", "Message": message, "TurkErrorCode": "AWS.MechanicalTurk.Documented"}


@contextlib.contextmanager
def paying_platform() -> Iterator[Platform]:
    """A running one, of either kind."""
    made = Platform()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            path, target = urlsplit(self.path).path, self.headers.get("X-Amz-Target", "")
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            operation = target.rpartition(".")[2]
            what = operation or f"{self.command} {path}"
            with contextlib.suppress(BrokenPipeError, ConnectionResetError, NoAnswer):
                with made.lock:
                    made.asked.append(what)
                    fault = made.rng.random() < made.faults
                made.before(what)
                if fault:
                    too_many = made.rng.random() < 0.5 or what.endswith("/pay/")
                    turned = (400, {"__type": "ThrottlingException", "Message": "Rate exceeded"}) if operation else (429, {})
                    self._send(*(turned if too_many else (503, {})))
                    return
                if not operation and self.headers.get("Authorization") != f"Token {TOKEN}":
                    self._send(401, _error("Invalid token."))
                    return
                with made.lock:
                    status, said = made.mturk(operation, body) if operation else made.prolific(self.command, path, body)
                made.after(what)
                self._send(status, said)

        do_GET = do_POST = _answer  # noqa: N815 - as the base class calls them

        def _send(self, status: int, said: Any) -> None:
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.origin = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield made
    finally:
        made.all_paid()
        server.shutdown()
        server.server_close()
