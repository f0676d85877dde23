"""The HTTP interface described in OpenAPI 3.1, written by hand because it is short."""

from __future__ import annotations

from typing import Any

from tacit import __version__
from tacit.forecasts import SHAPES
from tacit.serve.questions import KEY_LENGTH
from tacit.tables.statistics.catalogue import callable_in_sql, forecastable

_AMOUNT = {"type": ["number", "string"], "description": "An exact number such as 0.5 or '1/3'."}
_GUARANTEE = {"type": "string", "examples": ["Pure 1/2"], "description": "A kind of guarantee and its numbers."}
_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": required | (optional or {}), "required": list(required), **more}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


SCHEMAS: dict[str, Any] = {
    "Error": _object({"error": _TEXT, "message": _TEXT, "python": _TEXT}),
    "Dataset": _object(
        {
            "name": _TEXT,
            "persons": {"type": ["integer", "null"]},
            "tables": _list(
                _object(
                    {
                        "name": _TEXT,
                        "private": {"type": "boolean"},
                        "declared": _TEXT,
                        "columns": _list(_object({"name": _TEXT, "type": _TEXT})),
                    }
                )
            ),
        }
    ),
    "Question": {
        "type": "object",
        "description": "Either sql or question, and its cost: epsilon, epsilon with delta, or rho.",
        "properties": {
            "sql": {"type": "string", "examples": ["SELECT COUNT(*) FROM orders"]},
            "question": _object(
                {"table": _TEXT, "statistic": {"enum": list(callable_in_sql())}},
                {"column": _TEXT, "where": _TEXT, "group_by": _TEXT, "quantile": _AMOUNT},
                additionalProperties=False,
            ),
            "keys": {"type": "array", "items": {"type": ["string", "number", "boolean", "null", "array"]}},
            "epsilon": _AMOUNT,
            "delta": _AMOUNT,
            "rho": _AMOUNT,
            "fresh": {"type": "boolean", "description": "Ask and pay again even if the same was answered before."},
        },
        "additionalProperties": False,
    },
    "Cost": _object(
        {
            "sql": _TEXT,
            "cost": _GUARANTEE,
            "charge": _GUARANTEE | {"description": "What of the cost would be charged: nothing for what is stored."},
            "fits": {"type": "boolean"},
            "free": {"type": "boolean", "description": "Answered before, so asking costs nothing."},
            "remaining": _GUARANTEE,
            "statistics": _list(_TEXT),
            "forecast": {"type": ["string", "null"], "description": "The statistic under which /plan knows it."},
            "noise_std": {"type": ["number", "null"], "description": "Of the noise, where it is known beforehand."},
            "words": _TEXT,
        }
    ),
    "Answer": _object(
        {
            "answer": {"type": "object"},
            "words": _TEXT,
            "cost": _GUARANTEE,
            "stored": {"type": "boolean"},
            "whole": {"type": "object", "description": "The answer as Tacit's own client reads it."},
            "certificate": {
                "type": ["object", "null"],
                "description": "What was drawn and charged, for tacit verify; null for answers of earlier versions.",
            },
        },
        {"remaining": _GUARANTEE},
    ),
    "Line": _object({"number": _WHOLE, "at": _TEXT, "cost": _GUARANTEE, "question": _TEXT, "status": _TEXT}),
    "Budget": _object(
        {
            "total": _GUARANTEE,
            "spent": _GUARANTEE,
            "remaining": _GUARANTEE,
            "composition": _TEXT,
            "least": {"type": ["string", "null"], "description": "The least cost of each aggregate of a question."},
            "failures_left": {"type": ["integer", "null"], "description": "Charged questions that may still fail."},
            "words": _TEXT,
        }
    ),
    "Forecast": _object(
        {
            "statistic": _TEXT,
            "persons": _WHOLE,
            "shape": _TEXT,
            "epsilon": {"type": "number"},
            "error": {"type": "number"},
            "lines": _list({"type": "object"}),
            "words": _TEXT,
        }
    ),
}

_ERRORS = {
    "400": "A mistake in what was sent; nothing was spent.",
    "401": "No token, or one that is not known.",
    "403": "Not allowed, too cheap or not covered by the budget, or too many failed; nothing was spent.",
    "404": "Not there for this caller.",
    "405": "Another method is meant.",
    "409": "This request was charged before and has no answer; nothing more was charged.",
    "408": "The body did not arrive in time; nothing was spent.",
    "413": "Too large.",
    "415": "Not JSON.",
    "422": "This cannot be answered privately as written; nothing was spent.",
    "429": "Too many requests; nothing was spent.",
    "503": "The engine or the ledger failed; the message says what was charged.",
}


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _operation(
    name: str, words: str, result: dict[str, Any], *parameters: dict[str, Any], body: bool = False, errors: str = ""
) -> dict[str, Any]:
    wanted = ("401", "403", "404", "405", "429", "503", *errors.split())
    described: dict[str, Any] = {
        "operationId": name,
        "summary": words,
        "parameters": list(parameters),
        "responses": {"200": {"description": "Fine.", "content": _content(result)}}
        | {code: {"description": _ERRORS[code], "content": _content(_ref("Error"))} for code in sorted(wanted)},
    }
    if body:
        described["requestBody"] = {"required": True, "content": _content(_ref("Question"))}
    return described


def _query(name: str, schema: dict[str, Any], words: str, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": words}


_DATASET = {"name": "dataset", "in": "path", "required": True, "schema": _TEXT}
_NUMBER = {"name": "number", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 0}}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": KEY_LENGTH, "pattern": r"^[!-~]+$"},
    "description": "A question sent again under the same key is not charged again.",
}
_WRONG = "400 408 413 415 422"

DESCRIPTION: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "Tacit Serve",
        "version": __version__,
        "description": "Differentially private answers about tables that nobody here can see. Tokens go into the "
        "Authorization header. Numbers of a budget are exact: send them as text where a double would not do.",
    },
    "security": [{"token": []}],
    "paths": {
        "/v1/datasets": {
            "get": _operation("datasets", "The datasets you may ask.", _object({"datasets": _list(_TEXT)}))
        },
        "/v1/datasets/{dataset}": {
            "get": _operation("dataset", "Names, types and whom the tables are about.", _ref("Dataset"), _DATASET)
        },
        "/v1/datasets/{dataset}/budget": {
            "get": _operation("budget", "What you may spend, have spent and have left.", _ref("Budget"), _DATASET)
        },
        "/v1/datasets/{dataset}/cost": {
            "post": _operation("cost", "What a question would cost.", _ref("Cost"), _DATASET, body=True, errors=_WRONG)
        },
        "/v1/datasets/{dataset}/ask": {
            "post": _operation("ask", "Ask and pay.", _ref("Answer"), _DATASET, _KEY, body=True, errors=f"{_WRONG} 409")
        },
        "/v1/datasets/{dataset}/history": {
            "get": _operation(
                "history",
                "Your questions, oldest first.",
                _object({"questions": _list(_ref("Line"))}),
                _DATASET,
                _query("after", {"type": "integer", "minimum": 0}, "Only those with a larger number."),
                _query(
                    "limit",
                    {"type": "integer", "minimum": 0, "maximum": 1000},
                    "The largest number of entries to return.",
                ),
                errors="400",
            )
        },
        "/v1/datasets/{dataset}/answers/{number}": {
            "get": _operation("answer", "One of your answers, as released.", _ref("Line"), _DATASET, _NUMBER)
        },
        "/v1/datasets/{dataset}/plan": {
            "get": _operation(
                "plan",
                "The accuracy to expect, from made-up data.",
                _ref("Forecast"),
                _DATASET,
                _query("statistic", {"enum": list(forecastable())}, "What would be asked.", required=True),
                _query("epsilon", _TEXT, "What it would cost.", required=True),
                _query("persons", {"type": "integer", "minimum": 1}, "About how many persons there are."),
                _query("shape", {"enum": list(SHAPES)}, "What a person's values look like."),
                errors="400",
            )
        },
    },
    "components": {
        "schemas": SCHEMAS,
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
}
