"""All actions by their keys, and how one is read from plain fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from decimal import Decimal
from typing import Any

from tacit.errors import InvalidInput
from tacit.serve.custody.actions import Action
from tacit.serve.custody.analysts import (
    AddAnalyst,
    AddToken,
    PauseAnalyst,
    RenewFailures,
    RequireApproval,
    ResumeAnalyst,
    RevokeAnalyst,
    RevokeToken,
    SetLimit,
    WithdrawAccess,
)
from tacit.serve.custody.approvals import Approve, Decline, WithdrawApproval
from tacit.serve.custody.datasets import AddDataset, AddVersion, WithdrawDataset

ACTIONS: dict[str, type[Action]] = {
    kind.key: kind
    for kind in (
        AddAnalyst,
        PauseAnalyst,
        ResumeAnalyst,
        RevokeAnalyst,
        AddToken,
        RevokeToken,
        SetLimit,
        RequireApproval,
        WithdrawAccess,
        Approve,
        Decline,
        WithdrawApproval,
        RenewFailures,
        AddDataset,
        AddVersion,
        WithdrawDataset,
    )
}
"""All actions by their keys."""


def read_action(given: Mapping[str, Any]) -> Action:
    """An action from plain fields, as a form or JSON has them."""
    kind = ACTIONS.get(str(given.get("action", "")))
    if kind is None:
        raise InvalidInput(f"there is no such action; there are {', '.join(ACTIONS)}.")
    known = {item.name: item for item in fields(kind)}  # type: ignore[arg-type]
    read: dict[str, str] = {}
    for name, value in given.items():
        if name == "action":
            continue
        if name not in known:
            raise InvalidInput(f"{kind.key!r} has no field {name!r}; its fields are {', '.join(known)}.")
        read[name] = _text(name, value)
    for name, item in known.items():
        if not read.get(name) and item.default is MISSING:
            raise InvalidInput(f"{kind.key!r} needs {name!r}; give it.")
    return kind(**{name: text for name, text in read.items() if text})


def _text(name: str, value: object) -> str:
    """A field as text; numbers as they were written."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal) or len(str(value)) > 2000:
        raise InvalidInput(f"{name} must be a text or a number of reasonable length.")
    text = str(value).strip()
    if not text.isprintable():
        raise InvalidInput(f"{name} must be a text of one line.")
    return text
