"""The HTTP interface described in OpenAPI 3.1, written by hand because it is short."""

from __future__ import annotations

from typing import Any

from tacit import __version__
from tacit.forecasts import SHAPES
from tacit.serve.composing import FIELDS
from tacit.serve.custody.openapi import PATHS as CUSTODY_PATHS
from tacit.serve.custody.openapi import SCHEMAS as CUSTODY_SCHEMAS
from tacit.serve.describing import AMOUNT as _AMOUNT
from tacit.serve.describing import GUARANTEE as _GUARANTEE
from tacit.serve.describing import TEXT as _TEXT
from tacit.serve.describing import WHOLE as _WHOLE
from tacit.serve.describing import a_list as _list
from tacit.serve.describing import an_object as _object
from tacit.serve.describing import operation as _operation
from tacit.serve.describing import query as _query
from tacit.serve.describing import reference as _ref
from tacit.serve.questions import KEY_LENGTH
from tacit.tables.statistics.catalogue import callable_in_sql, forecastable

_PART = _object(
    {
        "words": _TEXT,
        "cost": _GUARANTEE,
        "statistic": _TEXT,
        "groups": {"type": ["integer", "null"], "description": "Null where they are found in the data."},
        "noise_std": {"type": ["number", "null"]},
        "several": {"type": "boolean"},
    }
)


SCHEMAS: dict[str, Any] = {
    "Error": _object({"error": _TEXT, "message": _TEXT, "python": _TEXT}),
    "Dataset": _object(
        {
            "name": _TEXT,
            "version": {"type": ["string", "null"], "description": "The custodian's label of the data as they are."},
            "period": {"type": ["string", "null"], "description": "The period that is asked about and pays."},
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
            "question": _ref("Composed"),
            "keys": {"type": "array", "items": {"type": ["string", "number", "boolean", "null", "array"]}},
            "epsilon": _AMOUNT,
            "delta": _AMOUNT,
            "rho": _AMOUNT,
            "fresh": {"type": "boolean", "description": "Ask and pay again even if the same was answered before."},
        },
        "additionalProperties": False,
    },
    "Composed": _object(
        {"table": _TEXT, "statistic": {"enum": list(callable_in_sql())}},
        {name: {"type": ["number", "string"], "description": words} for name, words in FIELDS.items()}
        | {"table": _TEXT, "statistic": {"enum": list(callable_in_sql())}},
        additionalProperties=False,
    ),
    "Key": _object(
        {"key": {"type": "string", "minLength": 1, "maxLength": KEY_LENGTH, "pattern": r"^[!-~]+$"}},
        additionalProperties=False,
    ),
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
            "needs_approval": {
                "type": "boolean",
                "description": "Whether a person must approve it before it is asked.",
            },
            "words": _TEXT,
            "told": _TEXT | {"description": "The same in letters: ε, δ and ρ."},
            "parts": _list(_PART),
        }
    ),
    "Expected": _object(
        {
            "persons": {"type": ["integer", "null"], "description": "About how many persons it was forecast for."},
            "errors": _list(
                _object(
                    {
                        "words": _TEXT,
                        "share": {"type": ["number", "null"], "description": "19 of 20 answers lie within it."},
                        "noise_std": {"type": ["number", "null"]},
                    }
                )
            ),
            "words": _TEXT,
        }
    ),
    "Answer": _object(
        {
            "answer": {"type": "object"},
            "words": _TEXT,
            "warning": {
                "type": ["string", "null"],
                "description": "That the answer is an earlier one, to data without a version; null where it is not.",
            },
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
            "protection": {"type": "object", "description": "What holds for whom, in words: event, period, lifetime."},
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
            "post": _operation(
                "cost", "What a question would cost.", _ref("Cost"), _DATASET, body="Question", errors=_WRONG
            )
        },
        "/v1/datasets/{dataset}/compose": {
            "post": _operation(
                "compose",
                "A question that is put together from fields, as SQL.",
                _object({"sql": _TEXT}),
                _DATASET,
                body="Composed",
                errors=_WRONG,
            )
        },
        "/v1/datasets/{dataset}/expected": {
            "post": _operation(
                "expected",
                "How far off the answers to a question will be, from made-up data.",
                _ref("Expected"),
                _DATASET,
                _query("persons", {"type": "integer", "minimum": 1}, "About how many persons there are."),
                _query("shape", {"enum": list(SHAPES)}, "What a person's values look like."),
                body="Question",
                errors=_WRONG,
            )
        },
        "/v1/datasets/{dataset}/ask": {
            "post": _operation(
                "ask", "Ask and pay.", _ref("Answer"), _DATASET, _KEY, body="Question", errors=f"{_WRONG} 409"
            )
        },
        "/v1/datasets/{dataset}/cancel": {
            "post": _operation(
                "cancel",
                "Take back a question of yours that waits or is being answered; what was charged stays charged.",
                _object({"status": _TEXT}),
                _DATASET,
                body="Key",
                errors="400 408 413 415",
                fine="202",
            )
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
    }
    | CUSTODY_PATHS,
    "components": {
        "schemas": SCHEMAS | CUSTODY_SCHEMAS,
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
}
