"""The reference of SQL functions, made from their entries: ``python docs/hooks/functions.py`` writes the page anew."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path

from tacit.language import casts
from tacit.language.expressions import PARTS
from tacit.language.functions import SUBJECTS, Function
from tacit.language.functions.parts import UNITS
from tacit.language.functions.texts import LONGEST_TEXT

PAGE = Path(__file__).parents[1] / "reference" / "sql-functions.md"

OPENING = f"""# SQL functions

What may stand in a row-wise expression: in SQL, in `filter`, in `mutate`, wherever a column can. Every one means the
same, bit for bit, on DuckDB, PostgreSQL and Spark, and none can fail because of a row. What has no value is NULL in
that row: an overflow, a division by zero, a date that does not exist, a text that is no number. This page is made
from the entries in `tacit.language.functions`.

```python
import tacit
from tacit import Pure
from tacit.data import WAGES

wages = tacit.read(WAGES, person="woman", budget=Pure(2))
print(wages.filter("year BETWEEN 1980 AND 1984").mutate(band="FLOOR(LN(wage) * 2) / 2").mean("band", epsilon=1))
```

## Rules

- **Numbers.** Integers and decimals are exact within 64 bits; all integer types are one, and so are all types of
  doubles. + − × keep all digits, / gives a double, // the whole part of a quotient, % the remainder. A double has one
  zero, and neither NaN nor infinity: NaN in the data is NULL, ±inf the largest double.
- **Doubles** are computed by + − × ÷ and square roots alone, which IEEE 754 rounds in one way everywhere. Logarithms,
  EXP and POWER are fixed sequences of these operations, because the engines' own differ in the last bit.
- **Texts** are code points, compared byte by byte. A text that a function would make longer than {LONGEST_TEXT:,}
  characters is NULL.
- **Dates and times** lie between the years 1 and 9999, in UTC, to the microsecond; what leaves these years is NULL.
  There is no present day: CURRENT_DATE and NOW() are refused, for a question means the same tomorrow.
- **NULL** in, NULL out, unless it says otherwise below.

## Operators and clauses

- Comparisons, AND, OR, NOT, IS NULL, IS TRUE, IS [NOT] DISTINCT FROM, BETWEEN, IN over constants and other values,
  and CASE in both forms, as in SQL.
- `s LIKE 'a%_'` with a constant pattern; `s ILIKE 'a%'` compares LOWER(s) with the pattern in lower case. A backslash
  is refused.
- `x || y` joins texts; numbers, dates and truth values become texts.
- `day + 7`, `day - 7`, `day - other_day`, `t + INTERVAL '1 month 2 days'`, `d - INTERVAL 3 HOUR`, `d + INTERVAL (n)
  DAY`, `DATE_ADD(d, INTERVAL 1 MONTH)`, `DATE_SUB(d, INTERVAL 1 MONTH)`. Months come first, and end at the end of a
  month: January 31 plus one month is the last of February. A date stays a date unless the unit is shorter than a day.
  The units are {", ".join(UNITS)}.
- `EXTRACT(part FROM x)` with {", ".join(PARTS)}, isoyear, decade, century, millennium, epoch, millisecond,
  microsecond. Weeks are ISO weeks, DOW counts from Sunday = 0; milliseconds and microseconds include the seconds, in
  whole numbers; the epoch of a timestamp is a decimal with six digits. `EXTRACT(EPOCH FROM t - u)` and `EXTRACT(DAY
  FROM t - u)` are the seconds and the whole days between two times.
- `DATE_TRUNC('unit', x)`, `DATE_TRUNC(x, UNIT)` with the same units up to decade; a week starts on Monday. A century
  starts in year 00 or 01, by engine, and is refused.

## Casts

`CAST(x AS type)`, `x::type` and `TRY_CAST(x AS type)` are one: what cannot be converted is NULL in that row. Types
are BIGINT, DECIMAL(p, s), DOUBLE, VARCHAR, BOOLEAN, DATE, TIMESTAMP and their other names; the width of integers and
p are not looked at. Decimals are rounded halves away from zero, doubles halves to even. Text is read as follows,
spaces around it left out:

"""


def shown(value: object) -> str:
    """A value as SQL writes it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return f"'{value}'"
        case Fraction():
            return str(float(value))
        case date():
            return f"DATE '{value}'"
    return repr(value)


def entry(function: Function) -> str:
    """The lines about one function."""
    calls = ", ".join(f"`{call}`" for call in _calls(function))
    examples = "; ".join(f"`{text}` is `{shown(value)}`" for text, value in function.examples)
    return f"- {calls}: {function.meaning}" + (f" {examples}." if examples else "") + "\n"


def _calls(function: Function) -> list[str]:
    """The ways to write a function, one by one."""
    parts, depth, found = "", 0, []
    for character in function.written + ",":
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            found.append(parts.strip())
            parts = ""
        else:
            parts += character
    return found


def grammar() -> str:
    """The table in the words of `tacit.language.casts`."""
    lines = (casts.__doc__ or "").split("\n")
    first, last = (i for i, line in enumerate(lines) if line.startswith("==="))
    rows = [line.partition(" ") for line in lines[first + 1 : last]]
    return "| to | text |\n|---|---|\n" + "".join(
        f"| {kind} | {words.strip().replace('``', '`')} |\n" for kind, _, words in rows
    )


def page() -> str:
    """The whole page."""
    refused = (
        "\nA cast of a double to text is refused: engines write it in different ways. Cast it to a decimal first.\n"
    )
    subjects = "".join(f"\n## {name}\n\n{''.join(map(entry, functions))}" for name, functions in SUBJECTS.items())
    return OPENING + grammar() + refused + subjects


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
