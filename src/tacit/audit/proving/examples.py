"""A solver's counterexample as a small dataset, where its numbers are one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

Model = Mapping[str, Fraction | bool]


def _number(model: Model, name: str) -> Fraction:
    """A number by its name, whichever copy of it the failed case has; 0 where the case does not care."""
    found = [value for key, value in model.items() if key.partition("#")[0] == name]
    return Fraction(found[-1]) if found else Fraction(0)


def _listed(values: Any) -> str:
    return "{" + ", ".join(str(value) for value in values) + "}"


def _sum(model: Model, case: str) -> str:
    move = _number(model, "move")
    value = _listed([abs(move)])
    return f"a person of value {abs(move)}: {value if move < 0 else '{}'} against {value if move >= 0 else '{}'}"


def _mean(model: Model, case: str) -> str:
    x, y = _number(model, "x − low"), _number(model, "another x − low")
    first, second = ([x], [y]) if "replaced" in case else ([], [x]) if "added" in case else ([x], [])
    return f"{_listed(first)} against {_listed(second)}, values from 0 to {_number(model, 'high − low')}"


def _total(model: Model, case: str) -> str:
    total, cap = _listed([_number(model, "s")]), _number(model, "C")
    pair = f"{{}} against {total}" if "added" in case else f"{total} against {{}}"
    return f"{pair}, a person's total, beside persons who are in both; the cap drawn is {cap}"


def _ratio(model: Model, case: str) -> str:
    words = {"(0, 0)": "{}", "(1, 0)": "{has it}", "(0, 1)": "{has it not}"}
    before, _, after = case.partition(" → ")
    return f"{words[before[-6:]]} against {words[after[:6]]}"


def _votes(model: Model, case: str) -> str:
    a, b = int(_number(model, "a")), int(_number(model, "b"))
    moves = int(_number(model, "move of a")), int(_number(model, "move of b"))
    return f"{_listed('A' * a + 'B' * b)} against {_listed('A' * (a + moves[0]) + 'B' * (b + moves[1]))}"


def _keys(model: Model, case: str) -> str:
    keys = int(_number(model, "κ") or 1)
    return f"a person with the keys {_listed(f'k{i + 1}' for i in range(min(keys, 9)))} joins"


EXAMPLES: dict[str, Callable[[Model, str], str]] = {
    "mechanisms.laplace": _sum,
    "mechanisms.gaussian": _sum,
    "mechanisms.truncated_laplace": _sum,
    "mechanisms.bounded_mean": _mean,
    "mechanisms.scan_and_release": _total,
    "mechanisms.ratio": _ratio,
    "mechanisms.stable_mode": _votes,
    "mechanisms.stable_keys": _keys,
}


def as_dataset(covers: str, case: str, model: Model) -> str:
    """Two small datasets that the counterexample of a failed case is about, or nothing where it speaks of no data."""
    show = EXAMPLES.get(covers)
    try:
        return show(model, case) if show else ""
    except KeyError:  # a case that is not about two datasets
        return ""
