"""A custodian over HTTP, for tests."""

from __future__ import annotations

from typing import Any

import httpx

from tests.serve.support import token

ACTIONS = "/v1/custodian/actions"
ASK, COST, APPROVALS = (f"/v1/datasets/visits/{word}" for word in ("ask", "cost", "approvals"))


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


CUSTODIAN = bearer(token("custodian"))


def act(line: httpx.Client, action: str, **fields: Any) -> dict[str, Any]:
    """Propose an action, confirm it, and return what was done."""
    body = {"action": action, **fields}
    proposed = line.post(ACTIONS, json=body, headers=CUSTODIAN)
    assert proposed.status_code == 200, proposed.text
    assert proposed.json()["done"] is None
    done = line.post(ACTIONS, json=body | {"confirm": proposed.json()["confirm"]}, headers=CUSTODIAN)
    assert done.status_code == 200, done.text
    found: dict[str, Any] = done.json()
    assert found["done"]
    return found


def refused(line: httpx.Client, action: str, **fields: Any) -> httpx.Response:
    """The refusal of a proposal."""
    response = line.post(ACTIONS, json={"action": action, **fields}, headers=CUSTODIAN)
    assert response.status_code >= 400, response.text
    return response
