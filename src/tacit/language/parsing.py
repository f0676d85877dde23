"""From what an analyst writes to an expression, by a closed list.

PROMISE. Only the nodes below, with only the parts named beside them, become expressions; anything else (a subquery, a
function that reads files or the environment, several statements, a parameter) is refused before anything runs, with
the clause at fault and what to write instead. Nothing the analyst wrote is ever passed on to an engine as text.

PROMISE. Whatever text comes in, `parsed` returns or refuses it within a fraction of a second and never fails otherwise.
The text is cut into tokens, which takes time in proportion to its length; a text that is too long, has too many tokens,
is nested too deeply or holds a number of absurd length is refused then. What is left is parsed in time in proportion to
its tokens. Nothing here sees data, so whatever a parser raises about a text is a mistake in that text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar
from typing import Literal as Choice

from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.language import build
from tacit.language.cases import changed
from tacit.language.casts import cast
from tacit.language.expressions import DEEPEST_EXPRESSION, LARGEST_EXPRESSION, Expression, Literal, Scope
from tacit.language.functions import CALLED, COALESCE, FUNCTIONS, PARSED, Function
from tacit.language.functions.texts import concatenation
from tacit.language.times import TimeNodes, is_interval
from tacit.language.types import BOOLEAN, DATE, FLOAT, INTEGER, OTHER, TEXT, TIMESTAMP, ColumnType, Kind, decimal
from tacit.numbers.exact import LARGEST_EXPONENT, MOST_DIGITS, bounded

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST_TEXT = 100_000
"""The most characters of one query or expression."""

MOST_TOKENS = 20_000
"""The most words, numbers and signs of one query or expression."""

DEEPEST = 100
"""How deep parentheses, CASE and operators before a value may be nested in a text."""


@cache
def _grammar() -> Any:
    """The grammar in which everybody writes, whatever the engine: DuckDB's, with names in backticks as in BigQuery."""
    from sqlglot.dialects.duckdb import DuckDB

    class Tacit(DuckDB):
        class Tokenizer(DuckDB.Tokenizer):
            IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]

    return Tacit()


def parsed(text: str, what: str) -> list[exp.Expr | None]:
    """The statements in a text; ``what`` names it in the error, such as "the query"."""
    found = tokens(text, what)
    try:
        nodes = list(_grammar().parser().parse(found, text))
    except RecursionError:
        raise deep(what) from None
    except Exception:  # also what the parser did not foresee
        raise InvalidInput(f"{what} is not valid SQL; check the spelling.") from None
    return [node for node in nodes if type(node).__name__ != "Semicolon"]  # a comment behind a semicolon


def statements(text: str, what: str) -> list[str]:
    """The statements of a text as they are written, without the semicolons between them."""
    found = tokens(text, what)
    ends = [token.start for token in found if token.token_type.name == "SEMICOLON"]
    words = [token.start for token in found if token.token_type.name != "SEMICOLON"]
    pieces = zip([0, *(end + 1 for end in ends)], [*ends, len(text)], strict=True)
    return [text[a:b].strip() for a, b in pieces if any(a <= word < b for word in words)]  # comments are no statement


def tokens(text: str, what: str) -> list[Any]:
    """The tokens of a text within the bounds."""
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(f"{what} has more than {LONGEST_TEXT:,} characters; shorten it.")
    if not writable(text):
        raise InvalidInput(f"{what} holds a zero character or half a surrogate pair; leave it out.")
    try:
        found: list[Any] = _grammar().tokenize(text)
    except Exception:
        raise InvalidInput(f"{what} is not valid SQL; check the spelling.") from None
    if len(found) > MOST_TOKENS:
        raise InvalidInput(f"{what} has more than {MOST_TOKENS:,} words and signs; shorten it.")
    depth = chain = brackets = 0
    for token in found:
        kind = token.token_type.name
        brackets += kind == "L_BRACKET"  # x[1][1]… takes the square of its length
        depth += (kind in _OPEN) - (kind in _CLOSE)
        chain = chain + 1 if kind in _PREFIX else 0
        if max(depth, chain, brackets) > DEEPEST:
            raise deep(what)
        if kind == "NUMBER" and not bounded(token.text):
            raise InvalidInput(
                f"{what} has a number of more than {MOST_DIGITS} digits or with an exponent beyond "
                f"±{LARGEST_EXPONENT}; write an ordinary number."
            )
    return found


def writable(text: str) -> bool:
    """Whether a text can be written down as UTF-8 by everybody who passes it on."""
    return "\x00" not in text and not _HALVES.search(text)


_HALVES = re.compile("[\ud800-\udfff]")
_OPEN = {"L_PAREN", "L_BRACKET", "L_BRACE", "CASE"}
_CLOSE = {"R_PAREN", "R_BRACKET", "R_BRACE", "END"}
_PREFIX = {"NOT", "DASH", "PLUS", "TILDA", "TILDE", "INTERVAL"}


def deep(what: str) -> InvalidInput:
    """The refusal of a text that is nested deeper than anybody writes."""
    return InvalidInput(f"{what} is nested too deeply; write it more simply.")


def _supported() -> str:
    """What an expression may use, for refusals."""
    operators = (
        "columns, constants, + - * / // %, ||, comparisons, AND OR NOT, IN, BETWEEN, IS, LIKE, CASE, CAST, INTERVAL"
    )
    return f"{operators}, EXTRACT, DATE_TRUNC and the functions in the reference, such as {', '.join(_COMMON)}"


_COMMON = ("COALESCE", "ROUND", "LOWER", "SUBSTRING", "DATE_DIFF")


def parse(text: str, scope: Scope) -> Expression:
    """The expression a text such as ``region = 'EU' AND amount > 0`` means."""
    return convert(parsed_expression(text), scope)


def parsed_expression(text: str) -> exp.Expr:
    """The one node that a text such as ``SUM(amount)`` is parsed to."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("an expression must be a non-empty string such as \"region = 'EU'\".")
    statements = parsed(text, f"the expression {_shortened(text)}")
    if len(statements) != 1 or statements[0] is None:
        raise UnsupportedQuery("one expression is expected, not several statements; remove the semicolon.")
    return statements[0]


def convert(node: exp.Expr, scope: Scope) -> Expression:
    """The expression that a parsed sqlglot node means."""
    try:
        return build.typed(_Converter(scope).convert(node))
    except RecursionError:
        raise _deep() from None


def within_bounds(expression: Expression) -> Expression:
    """The expression itself, refused if it is too large to be planned."""
    size, depth = expression.extent
    if size > LARGEST_EXPRESSION:
        raise UnsupportedQuery(f"the expression has more than {LARGEST_EXPRESSION} parts; shorten it.")
    if depth > DEEPEST_EXPRESSION:
        raise _deep()
    return expression


def _deep() -> UnsupportedQuery:
    return UnsupportedQuery(f"the expression is nested more than {DEEPEST_EXPRESSION} deep; write it more simply.")


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


@dataclass
class _Converter(TimeNodes):
    """A walk over the tree, one method for each kind of node."""

    scope: Scope
    depth: int = 0

    def convert(self, node: Any) -> Expression:
        kind = type(node).__name__
        rule = _RULES.get(kind) or (_call(PARSED[kind]) if kind in PARSED else None)
        if kind in _CLOCKS or (kind == "Anonymous" and node.name.upper() in _CLOCKS):
            raise UnsupportedQuery(
                "a question means the same tomorrow, so it knows no present day or time; write the date, as in "
                "DATE '2024-12-31'."
            )
        if rule is None:
            raise UnsupportedQuery(f"{_clause(node)} is not supported in an expression; use {_supported()}.")
        method, parts = rule
        extra = [name for name, part in node.args.items() if name not in parts and name != "_type" and part]
        if extra:
            part = "a subquery" if extra[0] == "query" else extra[0].upper()
            raise UnsupportedQuery(f"{_clause(node)} with {part} is not supported; use {_supported()}.")
        if self.depth == DEEPEST_EXPRESSION:
            raise _deep()
        self.depth += 1
        found = within_bounds(method(self, node))  # at every step, so that nothing grows beyond
        self.depth -= 1
        return found

    def column(self, node: exp.Column) -> Expression:
        from sqlglot import exp

        if not isinstance(node.this, exp.Identifier):
            raise UnsupportedQuery(f"* is not supported in an expression; use {_supported()}.")
        found = self.scope.find(node.name, node.table or None, bool(node.this.args.get("quoted")))
        if found.type.kind is Kind.OTHER:
            raise InvalidInput(f"column {node.name!r} has a type that Tacit does not read; use another column.")
        return found

    def constant(self, node: exp.Literal) -> Expression:
        return build.literal(node.this, "a text") if node.is_string else _number(node.this)

    def negative(self, node: exp.Neg) -> Expression:
        inner = node.this
        if type(inner).__name__ == "Literal" and not inner.is_string:
            return _number("-" + inner.this)
        return build.arithmetic("-", Literal(INTEGER, 0), self.convert(inner))

    def arithmetic(self, node: exp.Binary) -> Expression:
        sign = {"Add": 1, "Sub": -1}.get(type(node).__name__)
        left, right = node.this, node.expression
        if sign == 1 and is_interval(left):
            left, right = right, left
        if sign is not None and is_interval(right):
            return self.shifted(left, right, sign)
        operator: Choice["+", "-", "*", "/"] = _ARITHMETIC[type(node).__name__]
        return build.arithmetic(operator, self.convert(node.this), self.convert(node.expression))

    def comparison(self, node: exp.Binary) -> Expression:
        operator: Choice["=", "<>", "<", "<=", ">", ">="] = _COMPARISON[type(node).__name__]
        return build.comparison(operator, self.convert(node.this), self.convert(node.expression))

    def logic(self, node: exp.Connector) -> Expression:
        operator: Choice["AND", "OR"] = "AND" if type(node).__name__ == "And" else "OR"
        return build.logic(operator, [self.convert(part) for part in node.flatten()])

    def like(self, node: exp.Like) -> Expression:
        found = build.like(self.convert(node.this), self.convert(node.expression))
        return build.negation(found) if node.args.get("negate") else found

    def between(self, node: exp.Between) -> Expression:
        operand = self.convert(node.this)
        low = build.comparison(">=", operand, self.convert(node.args["low"]))
        high = build.comparison("<=", operand, self.convert(node.args["high"]))
        return build.logic("AND", (low, high))

    def membership(self, node: exp.In) -> Expression:
        return build.membership(self.convert(node.this), [self.convert(item) for item in node.expressions])

    def identity(self, node: exp.Is) -> Expression:
        operand = self.convert(node.this)
        kind = type(node.expression).__name__
        if kind == "Null":
            return build.is_null(operand)
        if kind == "Boolean":
            wanted = operand if node.expression.this else build.negation(operand)
            return COALESCE(build.widen(wanted, BOOLEAN, "IS"), Literal(BOOLEAN, False))
        raise UnsupportedQuery("IS is supported with NULL, TRUE and FALSE; write = for other values.")

    def case(self, node: exp.Case) -> Expression:
        subject = self.convert(node.this) if node.this else None
        branches = []
        for branch in node.args["ifs"]:
            when, then = self.convert(branch.this), self.convert(branch.args["true"])
            branches.append((when if subject is None else build.comparison("=", subject, when), then))
        default = node.args.get("default")
        return build.case(branches, self.convert(default) if default is not None else None)

    def call(self, function: Function, node: exp.Func) -> Expression:
        given: list[Any] = []
        for part in function.parts:
            held = node.args.get(part)
            given += held if isinstance(held, list) else [] if held is None else [held]
        return function(*map(self.convert, given))

    def named(self, node: exp.Anonymous) -> Expression:
        """A function that sqlglot does not know."""
        name, given = node.name.upper(), node.expressions
        if name == "DATE_SUB" and len(given) == 2 and is_interval(given[1]):
            return self.shifted(given[0], given[1], -1)
        if name in ("DATE_PART", "DATEPART") and len(given) == 2 and given[0].is_string:
            return self.part(given[0].name, given[1])
        if name not in CALLED:
            raise UnsupportedQuery(f"{_clause(node)} is not supported in an expression; use {_supported()}.")
        return CALLED[name](*map(self.convert, given))

    def cast(self, node: exp.Cast) -> Expression:
        return cast(self.convert(node.this), _target(node))

    def trim(self, node: exp.Trim) -> Expression:
        name = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(str(node.args.get("position")), "TRIM")
        return CALLED[name](*map(self.convert, filter(None, (node.this, node.expression))))

    def pad(self, node: exp.Func) -> Expression:
        given = filter(None, (node.this, node.expression, node.args.get("fill_pattern")))
        return CALLED["LPAD" if node.args.get("is_left") else "RPAD"](*map(self.convert, given))

    def any_case(self, node: exp.Binary) -> Expression:
        pattern = self.convert(node.expression)
        if isinstance(pattern, Literal) and isinstance(pattern.value, str):
            pattern = Literal(pattern.type, changed(pattern.value, upper=False))
        found = build.like(FUNCTIONS["LOWER"](self.convert(node.this)), pattern)
        return build.negation(found) if node.args.get("negate") else found

    def distinct(self, node: exp.Binary) -> Expression:
        found = build.distinct(self.convert(node.this), self.convert(node.expression))
        return found if type(node).__name__ == "NullSafeNEQ" else build.negation(found)


_Rule = tuple[Callable[[_Converter, Any], Expression], frozenset[str]]
_ARITHMETIC: dict[str, Any] = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}
_COMPARISON: dict[str, Any] = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}


def _call(function: Function) -> _Rule:
    return lambda self, node: self.call(function, node), frozenset(function.parts + function.ignored)


_ONE, _TWO = frozenset(("this",)), frozenset(("this", "expression"))
_RULES: dict[str, _Rule] = {
    "Column": (_Converter.column, frozenset(("this", "table"))),
    "Literal": (_Converter.constant, frozenset(("this", "is_string"))),
    "Boolean": (lambda _, node: Literal(BOOLEAN, bool(node.this)), _ONE),
    "Null": (lambda _, __: Literal(OTHER, None), frozenset()),
    "Paren": (lambda self, node: self.convert(node.this), _ONE),
    "Neg": (_Converter.negative, _ONE),
    **{name: (_Converter.arithmetic, _TWO | {"typed", "safe"}) for name in _ARITHMETIC},
    **dict.fromkeys(_COMPARISON, (_Converter.comparison, _TWO)),
    "And": (_Converter.logic, _TWO),
    "Or": (_Converter.logic, _TWO),
    "Not": (lambda self, node: build.negation(self.convert(node.this)), _ONE),
    "In": (_Converter.membership, frozenset(("this", "expressions"))),
    "Between": (_Converter.between, frozenset(("this", "low", "high"))),
    "Is": (_Converter.identity, _TWO),
    "Like": (_Converter.like, _TWO | {"negate"}),
    "Case": (_Converter.case, frozenset(("this", "ifs", "default"))),
    "Extract": (_Converter.extract, _TWO),
    **dict.fromkeys(("TimestampTrunc", "DateTrunc"), (_Converter.date_trunc, frozenset(("this", "unit")))),
    **dict.fromkeys(("DateDiff", "TimestampDiff"), (_Converter.distance, _TWO | {"unit", "date_part_boundary"})),
    **dict.fromkeys(("DateAdd", "TimestampAdd"), (_Converter.added, _TWO)),
    **dict.fromkeys(("Cast", "TryCast"), (_Converter.cast, frozenset(("this", "to", "safe")))),
    **dict.fromkeys(("NullSafeEQ", "NullSafeNEQ"), (_Converter.distinct, _TWO)),
    "DPipe": (lambda self, node: concatenation([self.convert(part) for part in node.flatten()]), _TWO | {"safe"}),
    "ILike": (_Converter.any_case, _TWO | {"negate"}),
    "Trim": (_Converter.trim, _TWO | {"position"}),
    "Pad": (_Converter.pad, _TWO | {"fill_pattern", "is_left"}),
    "Anonymous": (_Converter.named, frozenset(("this", "expressions"))),
}
"""For each node, but those of `FUNCTIONS`, its method and its parts; ``typed``, ``safe`` record a dialect's habits."""


def _number(text: str) -> Literal:
    """A numeric constant: an integer, an exact decimal, or with an exponent a float."""
    try:
        found = float(text) if "e" in text.lower() else Decimal(text) if "." in text else int(text)
    except (ValueError, ArithmeticError):
        raise InvalidInput(f"{_shortened(text)} is not a number that can be read; check its spelling.") from None
    return build.literal(found, "a number")


def _target(node: exp.Cast) -> ColumnType:
    name = node.to.this.name if hasattr(node.to.this, "name") else ""
    parameters = [parameter.name for parameter in node.to.expressions]
    if name == "DECIMAL" and len(parameters) == 2 and parameters[1].isdigit():
        return decimal(int(parameters[1]))
    if name in _TARGETS and not parameters:
        return _TARGETS[name]
    if str(node.to.args.get("kind")).upper() == "FLOAT64":
        return FLOAT
    raise UnsupportedQuery(
        "CAST is supported to BIGINT, DECIMAL(p, s), DOUBLE, VARCHAR, BOOLEAN, DATE and TIMESTAMP; use one of them."
    )


_TARGETS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128"), INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), FLOAT),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR"), TEXT),
    "BOOLEAN": BOOLEAN,
    "DATE": DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "TIMESTAMPTZ"), TIMESTAMP),
}
"""Types by their names; there is one type of integers and one of doubles, whatever their width."""

_CLOCKS = {
    "CurrentDate", "CurrentTime", "CurrentTimestamp", "CurrentDatetime", "Localtime", "Localtimestamp", "NOW",
    "GETDATE", "SYSDATE", "CLOCK_TIMESTAMP", "STATEMENT_TIMESTAMP", "TRANSACTION_TIMESTAMP", "GET_CURRENT_TIMESTAMP",
}  # fmt: skip


def _clause(node: Any) -> str:
    """What the analyst will recognise: a function by its name, a query as a subquery, anything else by its keyword."""
    kind = type(node).__name__
    if kind == "Anonymous":
        return f"the function {_shortened(str(node.this))}"
    if kind in ("Select", "Subquery", "Exists", "All", "Any"):
        return "a subquery"
    return str(getattr(node, "sql_name", lambda: kind)() if hasattr(node, "sql_name") else kind).upper()
