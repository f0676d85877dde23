"""Functions of values: everything that the language says about each in one entry.

To add a function, add an entry to the file of its subject. If it can be made of other expressions, ``make=`` does, and
that is all. If not, it becomes a `NamedCall`: write its SQL in `tacit.engines.calls`, the same for all engines but for
a few methods of `tacit.engines.dialect.Dialect`, and its meaning in plain Python in `tests/language/meanings.py`.

A function must mean the same on every engine and never fail on a row. Decimals arrive as whole units; set ``result=``
unless the result has the scale of the first argument. Its result is absent where an argument is, unless its meaning
says otherwise. The reference page is made of the entries.
"""

from __future__ import annotations

from tacit.language.functions.choices import CHOICES, COALESCE, GREATEST, LEAST
from tacit.language.functions.dates import DATES
from tacit.language.functions.function import Function
from tacit.language.functions.numbers import ABS, NUMBERS
from tacit.language.functions.texts import TEXTS

__all__ = ["ABS", "CALLED", "COALESCE", "FUNCTIONS", "GREATEST", "LEAST", "PARSED", "SUBJECTS", "Function"]

SUBJECTS = {"Choices": CHOICES, "Numbers": NUMBERS, "Texts": TEXTS, "Dates and times": DATES}
"""All functions by their subject, as the reference lists them."""

FUNCTIONS = {function.name: function for subject in SUBJECTS.values() for function in subject}
"""All functions by their names."""

PARSED = {function.node: function for function in FUNCTIONS.values() if function.node}
"""Functions by the node that sqlglot makes of them."""

CALLED = {name: function for function in FUNCTIONS.values() for name in (function.name, *function.also)}
"""Functions by the names that sqlglot leaves as they are."""
