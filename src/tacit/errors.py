"""Everything Tacit raises on purpose.

Each message is one sentence that says what happened, what was or was not spent, and what to do. No message
carries anything that depends on private data.
"""


class TacitError(Exception):
    """The root of all errors raised by Tacit."""


class InvalidInput(TacitError, ValueError):
    """An argument is wrong; nothing was computed and nothing was spent."""


class BudgetExceeded(TacitError):
    """The budget does not cover the question; nothing was spent."""


class UnsupportedQuery(TacitError):
    """The question cannot be answered privately as written; nothing was spent."""


class EngineError(TacitError):
    """The engine failed; the message says whether the question was charged, never what the data look like."""


class LedgerError(TacitError):
    """The durable budget could not be read or written."""
