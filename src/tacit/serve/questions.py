"""What an analyst sends: a question as SQL or composed of fields, and what it may cost.

Everything is checked here for kind and size, before it is understood as a query, which decides what can be
answered privately. Composed questions become SQL too, so that there is one way to ask and everybody can
see what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from tacit.errors import InvalidInput
from tacit.language.parsing import writable
from tacit.ledger.texts import canonical
from tacit.numbers.exact import bounded, check_listed
from tacit.tables import Private, Session
from tacit.tables.sql.privacy_clause import Priced, price
from tacit.tables.statistics.asking import Entry
from tacit.tables.statistics.catalogue import callable_in_sql

_NUMBER = re.compile(r"\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?|\d{1,30}/\d{1,30}")
_AMOUNTS = ("epsilon", "delta", "rho")
_FIELDS = ("table", "statistic", "column", "where", "group_by", "quantile")
KEY_LENGTH = 100
MOST_KEYS = 1_000


@dataclass(frozen=True)
class SentQuestion:
    """A question as an analyst sent it, with its cost."""

    sql: str
    keys: tuple[Any, ...] | None
    amounts: tuple[tuple[str, str], ...]
    """The cost by name, as it was written."""
    fresh: bool = False

    def price(self) -> Priced:
        """Find what the question costs, named beside the SQL or inside it."""
        return price(self.sql, **dict(self.amounts))

    @property
    def fingerprint(self) -> str:
        """Equal questions, equal texts."""
        words = canonical([self.sql, self.keys, self.amounts, self.fresh])
        return sha256(words.encode(errors="surrogatepass")).hexdigest()


def read_question(body: object, session: Session, longest: int) -> SentQuestion:
    """Read a question from a JSON object, and check its kind and size."""
    if not isinstance(body, Mapping):
        raise InvalidInput("send a JSON object such as {'sql': 'SELECT COUNT(*) FROM orders', 'epsilon': 0.5}.")
    known = ("sql", "question", "keys", "fresh", *_AMOUNTS)
    for name in body:
        if name not in known:
            raise InvalidInput(f"a question has no such field; its fields are {', '.join(known)}.")
    sql, question = body.get("sql"), body.get("question")
    if (sql is None) == (question is None):
        raise InvalidInput("give either 'sql' or 'question'.")
    text = _text(sql, "sql", longest) if question is None else compose(question, session, longest)
    fresh = body.get("fresh", False)
    if not isinstance(fresh, bool):
        raise InvalidInput("fresh must be true or false.")
    amounts = tuple((name, number(body[name], name)) for name in _AMOUNTS if body.get(name) is not None)
    return SentQuestion(text, _keys(body.get("keys")), amounts, fresh)


def compose(question: object, session: Session, longest: int) -> str:
    """Write a question that is composed of fields as SQL."""
    if not isinstance(question, Mapping) or not set(question) <= set(_FIELDS):
        raise InvalidInput(f"a question is composed of {', '.join(_FIELDS)}.")
    present = {name: value for name, value in question.items() if value not in (None, "")}
    quantile = number(present.pop("quantile", "0.5"), "quantile")
    given = {name: _text(value, name, longest) for name, value in present.items()}
    table, statistic = given.get("table", ""), given.get("statistic", "")
    check_listed(table, "table", session.tables)
    known = callable_in_sql()
    check_listed(statistic, "statistic", known)
    entry = known[statistic]
    aggregate = entry.call.format(_column(entry, given, table, session), quantile=quantile)
    by = f"{_quoted(given['group_by'])}, " if "group_by" in given else ""
    lines = [f"SELECT {by}{aggregate}", f"FROM {_quoted(table)}"]
    if "where" in given:
        lines.append(f"WHERE {given['where']}")
    if by:
        lines.append(f"GROUP BY {_quoted(given['group_by'])}")
    return "\n".join(lines)


def _column(entry: Entry, given: Mapping[str, str], table: str, session: Session) -> str:
    """What is counted or added up."""
    if entry.of == "persons":
        declared = session._tables.declared[table]
        if not isinstance(declared, Private) or len(declared.persons) != 1:
            raise InvalidInput("the number of persons is asked of a table with one person column; choose another.")
        return _quoted(declared.persons[0].column)
    if "column" in given:
        return _quoted(given["column"])
    if entry.of == "rows":
        return "*"
    raise InvalidInput(f"the {entry.key} needs a column; name one.")


def _quoted(name: str) -> str:
    """A name as SQL reads it; plain words stay plain, for whoever reads the question."""
    from sqlglot.dialects.duckdb import DuckDB

    if re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name.upper() not in DuckDB.Tokenizer.KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def _text(value: object, name: str, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest or not writable(value):
        raise InvalidInput(
            f"{name} must be a text of at most {longest} characters, without NUL characters or unpaired surrogates."
        )
    return value


def number(value: object, name: str) -> str:
    """A number as it was written, refused if it is of absurd length."""
    text = str(value) if isinstance(value, str | int | Decimal) and not isinstance(value, bool) else ""
    if not _NUMBER.fullmatch(text.strip()):
        raise InvalidInput(f"{name} must be a number such as 0.5, or a text such as '1/3', of at most 30 digits.")
    return text.strip()


def _keys(value: object) -> tuple[Any, ...] | None:
    """Group keys: plain values, or lists of them where several columns make a key."""
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > MOST_KEYS:
        raise InvalidInput(f"keys must be a list of at most {MOST_KEYS} values.")
    return tuple(tuple(map(_key, key)) if isinstance(key, list) else _key(key) for key in value)


def _key(value: object) -> Any:
    if isinstance(value, Decimal) and bounded(value) and abs(value) < 10**300:
        return float(value)
    whole = isinstance(value, int) and abs(value) < 2**63
    if whole or value is None or (isinstance(value, str) and len(value) <= 1000 and writable(value)):
        return value
    raise InvalidInput("a key must be a text of at most 1,000 characters, a 64-bit number, true, false or null.")
