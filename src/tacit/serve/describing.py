"""Words in which the HTTP interface is described: types, operations and their errors."""

from __future__ import annotations

from typing import Any

AMOUNT = {"type": ["number", "string"], "description": "An exact number such as 0.5 or '1/3'."}
GUARANTEE = {"type": "string", "examples": ["Pure 1/2"], "description": "A kind of guarantee and its numbers."}
TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def an_object(required: dict[str, Any], optional: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """An object with fields that must be there, and others."""
    return {"type": "object", "properties": required | (optional or {}), "required": list(required), **more}


def reference(name: str) -> dict[str, str]:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def a_list(items: dict[str, Any]) -> dict[str, Any]:
    """A list."""
    return {"type": "array", "items": items}


ERRORS = {
    "400": "A mistake in what was sent; nothing was spent.",
    "401": "No token, or one that is not known.",
    "403": "Not allowed, too cheap or not covered by the budget, or too many failed; nothing was spent.",
    "404": "Not there for this caller.",
    "405": "Another method is meant.",
    "409": "Cancelled, not confirmed, or charged before and without an answer; nothing more was charged.",
    "408": "The body did not arrive in time; nothing was spent.",
    "413": "Too large.",
    "415": "Not JSON.",
    "422": "This cannot be answered privately as written; nothing was spent.",
    "429": "Too many requests; nothing was spent.",
    "503": "The engine or the ledger failed; the message says what was charged.",
}


def content(schema: dict[str, Any]) -> dict[str, Any]:
    """JSON of a schema."""
    return {"application/json": {"schema": schema}}


def operation(
    name: str,
    words: str,
    result: dict[str, Any],
    *parameters: dict[str, Any],
    body: str = "",
    errors: str = "",
    fine: str = "200",
) -> dict[str, Any]:
    """An operation, whose body has the schema of this name, and which answers with a status where all is well."""
    wanted = ("401", "403", "404", "405", "429", "503", *errors.split())
    described: dict[str, Any] = {
        "operationId": name,
        "summary": words,
        "parameters": list(parameters),
        "responses": {fine: {"description": "Fine.", "content": content(result)}}
        | {code: {"description": ERRORS[code], "content": content(reference("Error"))} for code in sorted(wanted)},
    }
    if body:
        described["requestBody"] = {"required": True, "content": content(reference(body))}
    return described


def query(name: str, schema: dict[str, Any], words: str, required: bool = False) -> dict[str, Any]:
    """A parameter of an address."""
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": words}
