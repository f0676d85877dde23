"""Everything Tacit raises on purpose.

Each message is one sentence that says what happened, what was or was not spent, and what to do. No message
carries anything that depends on private data.
"""


class TacitError(Exception):
    """The root of all errors raised by Tacit.

    >>> try:
    ...     orders.sum("amount", epsilon=-1)
    ... except tacit.TacitError as error:
    ...     print(error)
    epsilon must be above 0...
    """


class InvalidInput(TacitError, ValueError):
    """An argument is wrong; nothing was computed and nothing was spent.

    >>> orders.sum("amount")
    Traceback (most recent call last):
    tacit.errors.InvalidInput: name what the answer may cost: epsilon=0.5, or rho=0.01, or epsilon=0.5, delta=1e-6.
    """


class BudgetExceeded(TacitError):
    """The budget does not cover the question; nothing was spent.

    >>> orders.sum("amount", epsilon=1000)
    Traceback (most recent call last):
    tacit.errors.BudgetExceeded: ...
    """


class UnsupportedQuery(TacitError):
    """The question cannot be answered privately as written; nothing was spent.

    >>> session.sql("SELECT amount FROM orders", epsilon=1)
    Traceback (most recent call last):
    tacit.errors.UnsupportedQuery: ...
    """


class EngineError(TacitError):
    """The engine failed; the message says whether the question was charged, never what the data look like.

    >>> import os, pyarrow.parquet
    >>> pyarrow.parquet.write_table(data, "gone.parquet")
    >>> gone = tacit.read("gone.parquet", person="customer", budget=Pure(1))
    >>> os.remove("gone.parquet")
    >>> gone.sum("amount", epsilon=1)
    Traceback (most recent call last):
    tacit.errors.EngineError: ...stays charged...
    """


class LedgerError(TacitError):
    """The durable budget could not be read or written.

    >>> tacit.read(data, person="customer", ledger="ledger.db", name="unknown")
    Traceback (most recent call last):
    tacit.errors.LedgerError: the ledger has no dataset 'unknown'; create it, or give a budget to register it.
    """
