"""The custodian's side of the HTTP interface in OpenAPI."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from tacit.serve.custody.catalogue import ACTIONS
from tacit.serve.describing import AMOUNT, GUARANTEE, TEXT, WHOLE, a_list, an_object, operation, query, reference

_DATASET = {"name": "dataset", "in": "path", "required": True, "schema": TEXT}
_FILES = {"enum": ["report.md", "charges.csv", "history.json"]}
_FILE = {"name": "file", "in": "path", "required": True, "schema": _FILES}
_WRONG = "400 408 413 415"


def _action(key: str) -> dict[str, Any]:
    """The fields of an action, read from its class."""
    kind = ACTIONS[key]
    items = fields(kind)  # type: ignore[arg-type]
    required = {"action": {"const": key}} | {item.name: AMOUNT for item in items if item.default is MISSING}
    optional = {item.name: AMOUNT for item in items if item.default is not MISSING}
    confirm = {"confirm": TEXT | {"description": "The code that came with the words; without it nothing is done."}}
    words = (kind.__doc__ or "").strip().partition("\n")[0]
    return an_object(required, optional | confirm, description=words, additionalProperties=False)


SCHEMAS: dict[str, Any] = {
    "Action": {"oneOf": [_action(key) for key in ACTIONS]},
    "ActionResult": an_object(
        {"done": {"type": ["integer", "null"], "description": "The number of the act; null if it is only proposed."}}
        | {"words": TEXT},
        {
            "confirm": TEXT,
            "final": {"type": "boolean", "description": "Whether it cannot be undone."},
            "token": TEXT | {"description": "A new token: shown here, and never again."},
        },
    ),
    "Act": an_object({"number": WHOLE, "at": TEXT, "act": TEXT, "who": TEXT, "way": TEXT, "facts": {"type": "object"}}),
    "Approval": an_object(
        {
            "number": WHOLE,
            "at": TEXT,
            "analyst": TEXT,
            "dataset": TEXT,
            "question": TEXT,
            "cost": GUARANTEE,
            "reason": TEXT,
            "status": {"enum": ["open", "approved", "declined", "withdrawn", "expired"]},
            "until": {"type": ["string", "null"]},
        }
    ),
    "ApprovalRequest": {
        "description": "A question as for /ask, and a reason.",
        "type": "object",
        "properties": {
            "sql": TEXT,
            "question": {"type": "object"},
            "keys": {"type": "array"},
            "epsilon": AMOUNT,
            "delta": AMOUNT,
            "rho": AMOUNT,
            "fresh": {"type": "boolean"},
            "reason": TEXT,
        },
        "additionalProperties": False,
    },
    "Custody": an_object(
        {
            "last_act": WHOLE,
            "datasets": a_list({"type": "object"}),
            "unopened": {"type": "object"},
            "analysts": a_list({"type": "object"}),
            "requests": a_list(reference("Approval")),
            "overrides": a_list(TEXT),
        }
    ),
}

PATHS: dict[str, Any] = {
    "/v1/datasets/{dataset}/approvals": {
        "get": operation(
            "approvals",
            "Your requests for approval.",
            an_object({"approvals": a_list(reference("Approval"))}),
            _DATASET,
        ),
        "post": operation(
            "ask_approval",
            "Ask the custodian to approve one question.",
            reference("Approval"),
            _DATASET,
            body="ApprovalRequest",
            errors=f"{_WRONG} 422",
        ),
    },
    "/v1/custodian": {"get": operation("custody", "Who may ask what, and what is left.", reference("Custody"))},
    "/v1/custodian/acts": {
        "get": operation(
            "acts",
            "What custodians did, oldest first.",
            an_object({"acts": a_list(reference("Act"))}),
            query("after", {"type": "integer", "minimum": 0}, "Only those with a larger number."),
            errors="400",
        )
    },
    "/v1/custodian/actions": {
        "post": operation(
            "act",
            "Say what an action would do; with the code that came back, do it.",
            reference("ActionResult"),
            body="Action",
            errors=f"{_WRONG} 409",
        )
    },
    "/v1/custodian/datasets/{dataset}/{file}": {
        "get": operation("export", "A report or an export of a dataset's ledger.", TEXT, _DATASET, _FILE)
    },
}
