"""What an analyst sends: a question as SQL or composed of fields, and what it may cost.

Everything is checked here for kind and size, before it is understood as a query, which decides what can be
answered privately. Composed questions become SQL too (`tacit.serve.composing`).
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
from tacit.numbers.exact import bounded
from tacit.serve.composing import checked_text, compose
from tacit.tables import Session
from tacit.tables.sql.privacy_clause import Priced, price

_NUMBER = re.compile(r"\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?|\d{1,30}/\d{1,30}")
_AMOUNTS = ("epsilon", "delta", "rho")
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
        return _hash([self.sql, self.keys, self.amounts, self.fresh])

    @property
    def identity(self) -> str:
        """What is asked, at which cost: what a custodian approves, whether it is asked afresh or not.

        A browser ends lines in its own way, so the ends of lines are written in one.
        """
        return _hash([self.sql.replace("\r\n", "\n").strip(), self.keys, self.amounts])


def _hash(words: list[Any]) -> str:
    return sha256(canonical(words).encode(errors="surrogatepass")).hexdigest()


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
    text = _written(sql, longest) if question is None else compose(question, session, longest)
    fresh = body.get("fresh", False)
    if not isinstance(fresh, bool):
        raise InvalidInput("fresh must be true or false.")
    amounts = tuple((name, number(body[name], name)) for name in _AMOUNTS if body.get(name) is not None)
    return SentQuestion(text, _keys(body.get("keys")), amounts, fresh)


def _written(sql: object, longest: int) -> str:
    if not isinstance(sql, str):
        raise InvalidInput("sql must be a text such as 'SELECT COUNT(*) FROM orders'.")
    return checked_text(sql, "sql", longest)


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
