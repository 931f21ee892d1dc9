"""MTurk's requester API by boto3, in the forms of its service model (``mturk``, 2017-01-17).

Credentials are those that boto3 finds; ``AWS_ENDPOINT_URL_MTURK`` names another endpoint, such as that of the sandbox. A bonus
whose ``UniqueRequestToken`` was sent before is paid no second time; ``ListBonusPayments`` tells which are paid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from inpaintbench.annotate.platforms import Action, Bonus, Refused, Status, Submission
from inpaintbench.errors import InputError, MissingExtraError, NetworkError

_REGION = "us-east-1"
_MOST_FEEDBACK = 1024
_STATUS: dict[str, Status] = {"Submitted": "waiting", "Approved": "approved", "Rejected": "rejected"}
_LATER = frozenset({"ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded"})
_OF_TOKEN = frozenset({"UnrecognizedClientException", "AccessDeniedException", "InvalidSignatureException"})


class MTurk:
    """The API.

    Raises:
        MissingExtraError: boto3 is not installed.
    """

    name, most, repeats, returns = "MTurk", 1, True, False

    def __init__(self) -> None:
        try:
            import boto3
            from botocore import config, exceptions
        except ImportError as error:
            raise MissingExtraError("telling MTurk", "mturk") from error
        patient = config.Config(retries={"mode": "standard", "total_max_attempts": 6})
        self._errors, self._client = exceptions, boto3.client("mturk", region_name=_REGION, config=patient)

    def look(self, submission: str) -> Submission:
        """As ``Door``."""
        said = self._ask("get_assignment", AssignmentId=submission)["Assignment"]
        return Submission(_STATUS[said["AssignmentStatus"]], said["HITId"], self._paid(submission))

    def tell(self, action: Action, submission: str, words: str) -> None:
        """As ``Door``."""
        if action == "approve":
            self._ask("approve_assignment", AssignmentId=submission)
        elif action == "reject":
            self._ask("reject_assignment", AssignmentId=submission, RequesterFeedback=words[:_MOST_FEEDBACK])
        else:
            raise Refused("MTurk takes back nothing that was handed in, and pays the reward or nothing")

    def set_up(self, study: str, bonuses: Sequence[Bonus]) -> str:
        """The token of the bonus; the same for the same payment, also in another process."""
        (bonus,) = bonuses
        return hashlib.sha256(f"{study}\0{bonus.submission}\0{bonus.cents}\0{bonus.after}".encode()).hexdigest()

    def pay(self, key: str, bonuses: Sequence[Bonus]) -> None:
        """As ``Door``."""
        (bonus,) = bonuses
        try:
            self._ask(
                "send_bonus", WorkerId=bonus.participant, AssignmentId=bonus.submission, UniqueRequestToken=key,
                BonusAmount=f"{bonus.cents // 100}.{bonus.cents % 100:02d}", Reason=bonus.reason,
            )  # fmt: skip
        except Refused:  # also said of a token that was sent before
            if self._paid(bonus.submission) < bonus.after:
                raise

    def places(self, study: str) -> dict[str, object]:
        """As ``Door``."""
        said = self._ask("get_hit", HITId=study)["HIT"]
        counts = {name.removeprefix("NumberOfAssignments"): said.get(name) for name in said if name.startswith("NumberOf")}
        return {"status": said.get("HITStatus"), "places": said.get("MaxAssignments"), **counts}

    def _paid(self, submission: str) -> int:
        """Cents of all bonuses of an assignment."""
        total, more = 0, dict[str, str]()
        while True:
            said = self._ask("list_bonus_payments", AssignmentId=submission, MaxResults=100, **more)
            total += sum(round(float(one["BonusAmount"]) * 100) for one in said["BonusPayments"])
            if not said.get("NextToken"):
                return total
            more = {"NextToken": said["NextToken"]}

    def _ask(self, operation: str, **given: Any) -> Any:
        try:
            return getattr(self._client, operation)(**given)
        except (self._errors.NoCredentialsError, self._errors.PartialCredentialsError) as error:
            raise InputError("boto3 finds no credentials for MTurk; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") from error
        except self._errors.ClientError as error:
            said = error.response["Error"]
            if said.get("Code") in _OF_TOKEN:
                raise InputError(f"MTurk refuses your credentials ({said['Code']})") from error
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            if status >= 500 or status == 429 or said.get("Code") in _LATER:
                raise NetworkError(f"MTurk is unable to answer for now ({said.get('Code')})") from error
            raise Refused(f"MTurk refuses it: {said.get('Message') or said.get('Code')}".rstrip(". ")) from error
        except self._errors.BotoCoreError as error:
            raise NetworkError(f"MTurk does not answer: {error}") from error
