"""What the custodian sees of the present and of the past, as plain values."""

from __future__ import annotations

from typing import Any

from tacit.budgets import Budget
from tacit.guarantees import Guarantee
from tacit.ledger import Entry
from tacit.ledger.store import stamp
from tacit.serve.custody.standing import overrides
from tacit.serve.gateway import Gateway
from tacit.serve.tokens import token_id


def summary(gateway: Gateway) -> dict[str, Any]:
    """Everything the custodian sees of the present."""
    standing, config = gateway.standing, gateway.config
    analysts = []
    for analyst, allowed in config.analysts.items():
        access = {}
        for name, terms in allowed.items():
            above = terms.approve_above
            access[name] = {
                **amounts(gateway.budget_of(analyst, name)),
                "kind": "share" if terms.share else "limit" if terms.limit else "none",
                "approve_above": above and above.text(),
                "rule": f"above {above.short()} with approval" if above else "",
            }
        state = standing.states.get(analyst, "active")
        facts = {"name": analyst, "state": state, "tokens": standing.token_ids(config, analyst), "access": access}
        analysts.append(facts)
    return {
        "last_act": standing.number,
        "datasets": [{"name": name, **amounts(gateway.whole(name))} for name in config.datasets],
        "unopened": gateway.unopened,
        "analysts": analysts,
        "requests": [request.to_dict() for request in standing.requests.values()],
        "overrides": overrides(gateway.file, standing),
    }


def amounts(budget: Budget) -> dict[str, Any]:
    """What is spent and left of a budget, exactly and in words, with the share that is left."""
    total, spent, left = budget.total, budget.spent, budget.remaining
    return {
        "total": total.text(),
        "spent": spent.text(),
        "remaining": left.text(),
        "words": f"{spent.short()} of {total.short()} spent, {left.short()} left",
        "left": round(_share(left, total), 3),
    }


def _share(left: Guarantee, total: Guarantee) -> float:
    mine, whole = vars(left), vars(total)
    name = next((name for name in ("epsilon", "rho") if whole.get(name) and name in mine), None)
    return 0.0 if name is None else min(1.0, float(mine[name] / whole[name]))


def act_facts(entry: Entry) -> dict[str, Any]:
    """An act as plain values; digests of tokens are shortened to their ids."""
    body = {key: value for key, value in entry.body.items() if key not in ("who", "way")}
    if "token" in body:
        body["token"] = token_id(body["token"])
    who = {"who": entry.body.get("who", entry.body.get("analyst", "")), "way": entry.body.get("way", "")}
    return {"number": entry.number, "at": stamp(entry.at), "act": entry.what, **who, "facts": body}
