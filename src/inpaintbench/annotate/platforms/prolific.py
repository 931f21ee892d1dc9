"""Prolific's API v1, in the forms of its OpenAPI document and pages (https://docs.prolific.com/api-reference).

Which of its promises the rest builds on:

* a transition of a submission is idempotent (page "Approve or reject a submission"), and a return request is seen on it;
* bonuses are set up (at most 200, amounts in the study's currency), which pays nothing, and then paid. Paying is **not
  idempotent**, and asynchronous: "in the following minutes" (pages "Set up bonuses", "Pay bonuses");
* a submission lists the bonuses that have been paid on it, in pence or cents (page "Retrieve a submission");
* 429 is transient and to be tried again after a while; payments one after another meet it less (page "Managing high loads").
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2

from inpaintbench.annotate.crowd import Crowd, Outcome, address
from inpaintbench.annotate.platforms import Action, Bonus, InDoubt, Refused, Status, Submission
from inpaintbench.errors import InputError
from inpaintbench.http_client import (
    CheckedTransport,
    Limits,
    ServerGone,
    ServerRefused,
    TransientError,
    Visit,
    raise_for_status,
    retry,
)

# As the platform's own command line calls them.
TOKEN, ADDRESS = "PROLIFIC_TOKEN", "PROLIFIC_URL"
_STATUS: Mapping[str, Status] = {
    "RESERVED": "open", "ACTIVE": "open", "AWAITING REVIEW": "waiting", "APPROVED": "approved", "PARTIALLY APPROVED": "approved",
    "REJECTED": "rejected", "RETURNED": "returned", "SCREENED OUT": "screened out", "TIMED-OUT": "timed out",
}  # fmt: skip
# Outcome -> type of its completion code there; free words are allowed.
_CODE_TYPES: Mapping[Outcome, str] = {
    "completed": "COMPLETED", "no_more_tasks": "NO_MORE_TASKS", "failed_checks": "FAILED_ATTENTION_CHECK",
    "screened_out": "SCREENED_OUT",
}  # fmt: skip
_LEAST_REJECTION = 100
_MOST_DETAIL = 400
_TOO_MANY = 429


class Prolific:
    """The API, with the token of the environment, which stands in no error.

    Raises:
        InputError: no token, or an address over which it would be told to others.
    """

    name, most, repeats, returns = "Prolific", 200, False, True

    def __init__(self) -> None:
        token, self._base = os.environ.get(TOKEN, ""), os.environ.get(ADDRESS, "https://api.prolific.com").rstrip("/")
        if not token:
            raise InputError(f"the environment has no {TOKEN}; make a token in the settings of your account there")
        if not (token.isascii() and token.isprintable() and " " not in token):
            raise InputError(f"{TOKEN} is no token: it has characters that none has")
        parts = urlsplit(self._base)
        host, here = parts.hostname or "", parts.hostname in ("127.0.0.1", "localhost")
        if parts.scheme != "https" and not (here and parts.scheme == "http"):
            raise InputError(f"{ADDRESS} must begin with https://, or everybody on the way reads the token")
        self._headers = {"Authorization": f"Token {token}", "Accept": "application/json"}
        self._limits = Limits(seconds=600.0, tries=6, allow_hosts=(host,) if here else ())

    def look(self, submission: str) -> Submission:
        """As ``Door``."""
        said = self._ask("GET", f"submissions/{quote(submission, safe='')}/")
        cents = sum(round(float(amount)) for amount in said.get("bonus_payments") or ())
        status = _STATUS.get(str(said.get("status")))
        if status is None:
            raise Refused(f"Prolific says {said.get('status')!r} of the submission, which decides nothing; look again later")
        return Submission(status, said.get("study_id") or "", cents, asked_back=bool(said.get("return_requested")))

    def tell(self, action: Action, submission: str, words: str) -> None:
        """As ``Door``. Only workspaces with fixed screen-out payments have those, for codes that were set up for them."""
        if action == "reject" and len(words) < _LEAST_REJECTION:
            raise Refused(f"Prolific rejects for reasons of {_LEAST_REJECTION} characters and more, and this one is shorter")
        path = f"submissions/{quote(submission, safe='')}"
        if action == "ask back":
            self._ask("POST", f"{path}/request-return/", {"request_return_reasons": [words]})
            return
        bodies: Mapping[Action, Mapping[str, str]] = {
            "approve": {"action": "APPROVE"}, "screen out": {"action": "SCREEN_OUT", "completion_code": words},
            "reject": {"action": "REJECT", "message": words, "rejection_category": "FAILED_CHECK"},
        }  # fmt: skip
        self._ask("POST", f"{path}/transition/", bodies[action])

    def set_up(self, study: str, bonuses: Sequence[Bonus]) -> str:
        """As ``Door``."""
        lines = "\n".join(f"{bonus.submission},{bonus.cents // 100}.{bonus.cents % 100:02d}" for bonus in bonuses)
        return _id(self._ask("POST", "submissions/bonus-payments/", {"study_id": study, "csv_bonuses": lines}))

    def pay(self, key: str, bonuses: Sequence[Bonus]) -> None:  # noqa: ARG002 - what is paid was set up
        """As ``Door``. Tried again only where the platform has certainly not taken it."""
        self._ask("POST", f"bulk-bonus-payments/{quote(key, safe='')}/pay/", {}, once=True)

    def places(self, study: str) -> dict[str, object]:
        """As ``Door``."""
        said, path = self._ask("GET", f"studies/{quote(study, safe='')}/"), f"studies/{quote(study, safe='')}/submissions/counts/"
        counts = {name: int(many) for name, many in self._ask("GET", path).items() if many}
        return {"status": said.get("status"), "places": said.get("total_available_places"), **counts}

    def draft(
        self, study_id: str, crowd: Crowd, *, title: str, about: str, origin: str, minutes: int, reward: int,
        screened_out: int | None, signed: bool,
    ) -> str:  # fmt: skip
        """Create a draft, which nobody sees before you publish it there, and return its id; the one that is there already.

        Args:
            study_id: of the study here; the draft's internal name holds it, by which it is found again.
            crowd: places, minutes and codes.
            title: shown to people.
            about: shown to people before they begin.
            origin: ``https://NAME`` at which the study is served.
            minutes: that a person needs, roughly.
            reward: cents.
            screened_out: cents for whoever fails the test, where the workspace has fixed screen-out payments.
            signed: the platform signs its links, where the workspace has that.
        """
        called = f"inpaintbench {study_id}"
        for known in self._ask("GET", "studies/").get("results", ()):
            if known.get("internal_name") == called:
                return _id(known)
        codes = []
        for outcome, kind in _CODE_TYPES.items():
            action: dict[str, object] = {"action": "MANUALLY_REVIEW"}
            if outcome == "screened_out" and screened_out is not None:
                kind, action = "FIXED_SCREENOUT", {"action": "FIXED_SCREEN_OUT_PAYMENT"}
                action |= {"fixed_screen_out_reward": screened_out, "slots": crowd.places}
            if code := crowd.code(outcome):
                codes.append({"code": code, "code_type": kind, "actions": [action], "actor": "participant"})
        body = {
            "name": title, "internal_name": called, "description": about, "external_study_url": address(crowd, origin),
            "prolific_id_option": "url_parameters", "completion_codes": codes, "total_available_places": crowd.places,
            "estimated_completion_time": minutes, "maximum_allowed_time": crowd.most_minutes, "reward": reward,
            "is_external_study_url_secure": signed,
        }  # fmt: skip
        return _id(self._ask("POST", "studies/", body, once=True))

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, once: bool = False
    ) -> dict[str, Any]:  # fmt: skip
        """The answer to a request, empty where it is no JSON object.

        It is tried again as often as the limits allow, with ``once`` only as long as it was not taken.

        Raises:
            Refused: by the platform, for good.
            InputError: the token is refused.
            InDoubt: with ``once``.
            NetworkError: no answer at every try.
        """
        visit = Visit(f"{self._base}/api/v1/{path}", self._limits, self._headers)

        def attempt() -> dict[str, Any]:
            try:
                with httpx2.Client(transport=CheckedTransport(self._limits), trust_env=False, timeout=60.0) as client:
                    response = client.request(method, visit.url, json=body, headers=self._headers)
            except httpx2.TransportError as error:
                told = f"{type(error).__name__}: {error}".rstrip(".: ")
                if once and not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
                    raise InDoubt(f"Prolific did not answer to {path}: {told}") from error
                raise TransientError(told) from error
            try:
                raise_for_status(visit, response)
            except TransientError as error:
                if once and response.status_code != _TOO_MANY:
                    raise InDoubt(f"Prolific answered {path} with {error}") from error
                raise
            except (ServerGone, ServerRefused) as error:
                if response.status_code in (401, 403):
                    raise InputError(f"Prolific refuses the token of {TOKEN} (HTTP {response.status_code})") from error
                raise Refused(f"Prolific refuses it: {_detail(response)} (HTTP {response.status_code})") from error
            try:
                said = response.json()
            except ValueError:  # what was asked is done all the same
                said = None
            return said if isinstance(said, dict) else {}

        return retry(visit, attempt)


def _id(said: Mapping[str, Any]) -> str:
    if not said.get("id"):
        raise Refused("Prolific's answer names nothing by which it could be found again")
    return str(said["id"])


def _detail(response: httpx2.Response) -> str:
    """What an error says, in whichever of the documented forms: ``detail`` of the body or of its ``error``."""
    try:
        said = response.json()
        said = said.get("error") or said
        said = said.get("detail") or said.get("title")
    except (ValueError, AttributeError):
        said = None
    if isinstance(said, dict):
        said = [f"{name}: {', '.join(map(str, of)) if isinstance(of, list) else of}" for name, of in said.items()]
    text = "; ".join(map(str, said)) if isinstance(said, list) else str(said or "no reason is given")
    return text[:_MOST_DETAIL].rstrip(". ")
