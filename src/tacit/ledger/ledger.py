"""`Ledger`: durable budgets by name, for sessions, for privacy officers and for auditors.

    ledger = open_ledger("ledger.db")                        # or "postgresql://…"
    budget = ledger.budget("shop", Pure(2))                  # registers the dataset, or goes on where it stopped
    receipt = budget.charge(Pure("0.5"), Question(...))      # on the disk before any data is touched

Data that changes under a name goes on with the same budget. Opening a name with another budget, another composition or
other kinds of person is refused: two sessions cannot believe in two budgets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.budgets.accounts import UNLIMITED, Policy
from tacit.budgets.budget import Budget
from tacit.budgets.filters import Filter, filter_for
from tacit.closing import Closing
from tacit.errors import InvalidInput, LedgerError
from tacit.guarantees import Guarantee
from tacit.ledger import acts, texts
from tacit.ledger import store as clocks
from tacit.ledger.book import LedgerBook, login
from tacit.ledger.entries import GENESIS, Entry, chained
from tacit.ledger.rows import Dataset, account_from, read_dataset
from tacit.ledger.sqlite import SqliteStore
from tacit.ledger.store import Row, Store, moment, stamp
from tacit.numbers.exact import Number

PERSON = ("person",)
"""The kinds of person of a dataset that does not name them."""

_PAGE = 1000
_END = 1000
"""Characters at the end of an entry that hold all but its answer; where they do not, the whole entry is read."""
_BRIEF = "CASE WHEN what = 'answered' AND length(body) > {0} THEN substr(body, length(body) - {0} + 1) ELSE body END"
_CHARGE = ',"charge":'


class Ledger(Closing):
    """Durable budgets, kept by a store.

    >>> from tacit.ledger import open_ledger
    >>> with open_ledger("ledger.db") as ledger:
    ...     ledger.budget("shop", Pure(1))
    <Budget Pure(1): spent Pure(0), left Pure(1)>
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def identity(self) -> str:
        """What tells this ledger from every other; empty for one of before that was never opened for writing since."""
        return self._store.identity

    @property
    def read_only(self) -> bool:
        """Whether this is a view in which nothing can be changed."""
        return self._store.read_only

    def register(
        self,
        name: str,
        total: Guarantee,
        *,
        kinds: tuple[str, ...] = PERSON,
        composition: str = "basic",
        set_aside: Number | None = None,
        policy: Policy | None = None,
        literals: str = "keep",
    ) -> Budget:
        """Register a dataset under a new name.

        Args:
            name: the name.
            total: what all charges together may promise.
            kinds: the kinds of person that the data are about.
            composition, set_aside, policy: as for `tacit.budgets.open_budget`.
            literals: whether constants of questions are kept: "keep" or "omit".

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger("ledger.db")
        >>> ledger.register("shop", Pure(1)).total
        Pure(1)
        """
        rule = filter_for(total, composition, set_aside=set_aside)
        if not self._insert(name, kinds, rule, policy or UNLIMITED, literals):
            raise LedgerError(f"the ledger has a dataset {name!r} already; nothing was changed: choose another name.")
        return Budget(LedgerBook(self._store, name))

    def _insert(self, name: str, kinds: tuple[str, ...], rule: Filter, policy: Policy, literals: str) -> bool:
        """Write the dataset's row and its first entry; False when another process did so first."""
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InvalidInput("name must be a printable text that is not empty; give the dataset's name.")
        if literals not in ("keep", "omit"):
            raise InvalidInput('literals must be "keep" or "omit".')
        if not kinds or isinstance(kinds, str):
            raise InvalidInput("kinds must name at least one kind of person, as a tuple of texts.")
        terms = texts.filter_text(rule)
        body = {"kinds": list(kinds), "literals": literals, "policy": texts.policy_text(policy), "terms": terms}
        text = texts.canonical(body | {"who": login()})
        row = (name, texts.canonical(list(kinds)), terms, texts.vector_text(rule.nothing), texts.policy_text(policy))
        with self._store.writing() as work:
            work.read(self._store.registering)
            if read_dataset(work, name) is not None:
                return False
            at = stamp(work.read(f"SELECT {self._store.clock}")[0][0] or clocks.now())
            head = chained(name, 1, at, "registered", text, GENESIS)
            work.write("INSERT INTO tacit_datasets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *row, literals, 1, head, at)
            work.write("INSERT INTO tacit_entries VALUES (?, ?, ?, ?, ?, ?)", name, 1, at, "registered", text, head)
        return True

    def budget(
        self,
        name: str,
        total: Guarantee | None = None,
        *,
        kinds: tuple[str, ...] | None = None,
        policy: Policy | None = None,
        literals: str = "keep",
        composition: str = "basic",
        set_aside: Number | None = None,
    ) -> Budget:
        """The durable budget of a dataset: registered if the name is new, continued if its terms are the same.

        Args:
            name: the dataset's name.
            total: what all charges together may promise; needed where the name is new.
            kinds: the kinds of person that the data are about.
            composition, set_aside: as for `tacit.budgets.open_budget`.
            policy, literals: taken when the dataset is registered, as by `register`; later the ledger's own count.

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger("ledger.db")
        >>> receipt = ledger.budget("shop", Pure(1)).charge(Pure("0.25"))
        >>> ledger.budget("shop").remaining
        Pure(0.75)
        """
        known = self._find(name)
        if known is None:
            if total is None:
                raise LedgerError(f"the ledger has no dataset {name!r}; create it, or give a budget to register it.")
            if self.read_only:
                raise LedgerError(f"the ledger has no dataset {name!r} and this view is read-only; check the name.")
            rule = filter_for(total, composition, set_aside=set_aside)
            if self._insert(name, PERSON if kinds is None else tuple(kinds), rule, policy or UNLIMITED, literals):
                return Budget(LedgerBook(self._store, name))
            known = self.dataset(name)
        if total is not None:
            rule = filter_for(total, composition, set_aside=set_aside)
            if rule.terms != known.root.filter.terms:
                raise LedgerError(
                    f"the dataset {name!r} has the budget {known.root.filter.describe()} in this ledger, not "
                    f"{rule.describe()}; nothing was spent: open it with the same budget, or under another name."
                )
        if kinds is not None and tuple(kinds) != known.kinds:
            raise LedgerError(
                f"the dataset {name!r} protects persons of kind {', '.join(known.kinds)} in this ledger, not "
                f"{', '.join(kinds)}; nothing was spent: declare the same kinds, such as "
                f"person='{known.kinds[0]}:{kinds[0] if kinds else 'id'}', or use another name."
            )
        return Budget(LedgerBook(self._store, name))

    def _find(self, name: str) -> Dataset | None:
        with self._store.reading() as work:
            return read_dataset(work, name)

    def dataset(self, name: str) -> Dataset:
        """The facts of a dataset: terms, sums, the end of its history.

        Args:
            name: the dataset's name.

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger("ledger.db")
        >>> shop = ledger.register("shop", Pure(1))
        >>> ledger.dataset("shop").kinds
        ('person',)
        """
        known = self._find(name)
        if known is None:
            raise LedgerError(f"the ledger has no dataset {name!r}; create it, or check the name.")
        return known

    def names(self) -> list[str]:
        """The datasets of this ledger.

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger("ledger.db")
        >>> shop = ledger.register("shop", Pure(1))
        >>> ledger.names()
        ['shop']
        """
        with self._store.reading() as work:
            return [str(name) for (name,) in work.read("SELECT name FROM tacit_datasets ORDER BY name")]

    def accounts(self, name: str) -> dict[str, Budget]:
        """Shares, analysts, groups and parts of a dataset, by their full names.

        Args:
            name: the dataset's name.

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger("ledger.db")
        >>> ada = ledger.register("shop", Pure(1)).analyst("ada")
        >>> list(ledger.accounts("shop"))
        ['analyst:ada']
        """
        with self._store.reading() as work:
            rows = work.read(
                "SELECT name, link, terms, sums, policy FROM tacit_accounts WHERE dataset = ? ORDER BY name", name
            )
        book = LedgerBook(self._store, name)
        return {row[0]: Budget(book, account_from(row).name) for row in rows}

    def history(self, name: str, *, after: int = 0, answers: bool = True) -> Iterator[Entry]:
        """The entries of a dataset, oldest first, read page by page.

        Args:
            name: the dataset's name.
            after: the number after which to begin.
            answers: whether entries come with their answers, which may be long.

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger("ledger.db")
        >>> receipt = ledger.register("shop", Pure(1)).charge(Pure("0.25"))
        >>> [entry.what for entry in ledger.history("shop")]
        ['registered', 'charged']
        """
        self.dataset(name)
        body = "body" if answers else _BRIEF.format(_END)
        while True:
            with self._store.reading() as work:
                rows = work.read(
                    f"SELECT number, at, what, {body}, hash FROM tacit_entries WHERE dataset = ? AND number > ?"
                    f" ORDER BY number LIMIT {_PAGE}",
                    name,
                    after,
                )
            yield from map(_entry, rows) if answers else (self._brief(name, row) for row in rows)
            if len(rows) < _PAGE:
                return
            after = rows[-1][0]

    def _brief(self, name: str, row: Row) -> Entry:
        """An entry without its answer, which stands first: after it no text holds a quote, so the last mark is ours."""
        number, at, what, body, digest = row
        if what != "answered":
            return _entry(row)
        begin = body.rfind(_CHARGE)
        if begin >= 0:
            return Entry(number, moment(at), what, texts.parsed("{" + body[begin + 1 :]), digest)
        whole = self.entry(name, number) or _entry(row)
        return replace(whole, body={key: value for key, value in whole.body.items() if key != "answer"})

    def entry(self, name: str, number: int) -> Entry | None:
        """One entry of a dataset, or None if there is none of that number.

        Args:
            name: the dataset's name.
            number: the entry's number; the first is 1.

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger("ledger.db")
        >>> shop = ledger.register("shop", Pure(1))
        >>> ledger.entry("shop", 1).what
        'registered'
        """
        with self._store.reading() as work:
            rows = work.read(
                "SELECT number, at, what, body, hash FROM tacit_entries WHERE dataset = ? AND number = ?", name, number
            )
        return _entry(rows[0]) if rows else None

    def record(self, what: str, body: Mapping[str, Any], *, after: int | None = None) -> Entry:
        """Write down what a custodian did, in a history apart from those of datasets; see `tacit.ledger.acts`.

        Args:
            what: the act in a word or two.
            body: plain JSON values.
            after: the number of the act that this one must follow; refused if there was another since.

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger("ledger.db")
        >>> ledger.record("analyst paused", {"analyst": "ada"}).number
        1
        """
        return acts.append(self._store, what, body, after)

    def acts(self, after: int = 0) -> list[Entry]:
        """What custodians did, oldest first.

        Args:
            after: the number after which to begin.

        >>> from tacit.ledger import open_ledger
        >>> open_ledger("ledger.db").acts()
        []
        """
        with self._store.reading() as work:
            return acts.acts_after(work, after)

    def verify_acts(self) -> tuple[str, ...]:
        """What is wrong with the history of acts; nothing where it is whole.

        >>> from tacit.ledger import open_ledger
        >>> open_ledger("ledger.db").verify_acts()
        ()
        """
        return acts.verify_acts(self._store)

    def copy_to(self, file: str | Path) -> None:
        """Write a copy of one moment into a new file, while others go on charging; see `tacit.ledger.verify`.

        Args:
            file: the copy's path, where nothing is yet.

        >>> from tacit.ledger import open_ledger
        >>> ledger = open_ledger("ledger.db")
        >>> shop = ledger.register("shop", Pure(1))
        >>> ledger.copy_to("copy.db")
        >>> open_ledger("copy.db", read_only=True).names()
        ['shop']
        """
        self._store.copy_to(Path(file))

    def close(self) -> None:
        """Close files and connections.

        >>> from tacit.ledger import open_ledger
        >>> open_ledger("ledger.db").close()
        """
        self._store.close()

    def __repr__(self) -> str:
        return f"<Ledger at {self._store.where}{', read-only' if self.read_only else ''}>"


def _entry(row: Row) -> Entry:
    number, at, what, body, digest = row
    return Entry(number, moment(at), what, texts.parsed(body), digest)


def open_ledger(
    where: str | Path | Ledger, *, read_only: bool = False, create: bool = True, accept: bool = False
) -> Ledger:
    """Open a ledger.

    Args:
        where: a path (one SQLite file) or "postgresql://…"; an open ledger passes through.
        read_only: whether to open an auditor's view, in which nothing can be changed.
        create: whether to make a new ledger where there is none.
        accept: whether to take a file as it is, though it is an older one than was there before: what was spent since
            then is forgotten.

    >>> from tacit.ledger import open_ledger
    >>> with open_ledger("ledger.db") as ledger:
    ...     ledger.names()
    []
    """
    if isinstance(where, Ledger):
        return where
    if isinstance(where, str) and where.startswith(("postgresql://", "postgres://")):
        from tacit.ledger.postgres import PostgresStore

        return Ledger(PostgresStore(where, read_only=read_only, create=create))
    if not str(where).strip():
        raise InvalidInput("ledger must be a path or a postgresql:// address; give a file name such as 'ledger.db'.")
    return Ledger(SqliteStore(where, read_only=read_only, create=create, accept=accept))
