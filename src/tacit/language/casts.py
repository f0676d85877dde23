"""CAST among all types, with the meaning of TRY_CAST: what cannot be converted is NULL in that row.

A widening conversion is `build.widen`. Numbers lose digits by rounding, decimals halves away from zero (as ROUND does),
doubles halves to even. Text is read by a grammar of Tacit's own, spaces around it left out:

========= ==========================================================================================================
number    ``[+-]digits[.digits]``, rounded to the digits asked for, halves away from zero; NULL beyond 64 bits
double    the same with up to 40 digits on each side, and an exponent ``e[+-]digits`` below 250; correctly rounded
boolean   true t yes y on 1, false f no n off 0, in any case
date      YYYY-MM-DD
timestamp YYYY-MM-DD, then perhaps HH:MM, :SS, .ffffff after a space or T, then perhaps Z
========= ==========================================================================================================

A double has no one text (engines write it in different ways), so its cast to text is refused.
"""

from __future__ import annotations

from tacit.errors import UnsupportedQuery
from tacit.language import build
from tacit.language.expressions import Cast, Expression, In, Literal, NamedCall
from tacit.language.types import BOOLEAN, DATE, FLOAT, INTEGER, TEXT, TIMESTAMP, ColumnType, Kind

_TRUE = ("true", "t", "yes", "y", "on", "1")
_FALSE = ("false", "f", "no", "n", "off", "0")


def cast(expression: Expression, target: ColumnType) -> Expression:
    """CAST(expression AS target)."""
    source = expression.type
    if source == target:
        return expression
    if build.untyped(expression) or (
        isinstance(expression, Literal) and source == TEXT and target in (DATE, TIMESTAMP)
    ):
        return build.widen(expression, target, "CAST")  # a constant that is no date is a mistake in the question
    if build.widens(expression, target):
        return build.widen(expression, target, "CAST")
    if target.kind is Kind.TEXT:
        return _text(expression)
    if source == TEXT:
        return _truth(expression) if target == BOOLEAN else NamedCall(target, "TRY_CAST", (expression,))
    if source.number and target == BOOLEAN:
        return build.comparison("<>", expression, Literal(INTEGER, 0))
    if source == BOOLEAN and target.number:
        return build.widen(Cast(INTEGER, expression), target, "CAST")
    if source.exact_number and target.exact_number:
        return NamedCall(target, "ROUND", (expression, Literal(INTEGER, target.scale)))
    if source == FLOAT and target.exact_number:
        return NamedCall(target, "TRY_CAST", (expression,))
    if source == TIMESTAMP and target == DATE:
        return NamedCall(target, "TRY_CAST", (expression,))
    raise UnsupportedQuery(
        f"CAST from {source} to {target} has no meaning that engines share; for times write DATE_DIFF or EXTRACT."
    )


def _truth(text: Expression) -> Expression:
    lowered = NamedCall(TEXT, "LOWER", (NamedCall(TEXT, "TRIM", (text, Literal(TEXT, " "))),))

    def among(words: tuple[str, ...]) -> In:
        return In(BOOLEAN, lowered, tuple(Literal(TEXT, word) for word in words))

    return build.case([(among(_TRUE), Literal(BOOLEAN, True)), (among(_FALSE), Literal(BOOLEAN, False))], None)


def _text(expression: Expression) -> Expression:
    match expression.type.kind:
        case Kind.INTEGER | Kind.DECIMAL:
            return NamedCall(TEXT, "TRY_CAST", (expression,))
        case Kind.BOOLEAN:
            words = [Literal(TEXT, word) for word in ("true", "false")]
            return build.case([(expression, words[0]), (build.negation(expression), words[1])], None)
        case Kind.DATE | Kind.TIMESTAMP:
            from tacit.language.functions.formats import as_text

            return as_text(expression)
    raise UnsupportedQuery(
        "CAST of a double to text differs from engine to engine; write CAST(… AS DECIMAL(18, 2)) first."
    )
