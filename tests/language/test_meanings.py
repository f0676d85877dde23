"""The operations behind logarithms and powers are close to the truth, and exact where people rely on it."""

from decimal import Decimal, localcontext
from math import exp, log, nextafter, ulp
from random import Random

import pytest

from tests.language import meanings


def _samples() -> list[float]:
    draw = Random(5)
    near = [1 + draw.uniform(-1e-3, 1e-3) for _ in range(300)]
    wide = [draw.uniform(1, 10) * 10.0 ** draw.randint(-300, 300) for _ in range(300)]
    return [*near, *wide, 5e-324, 2.0**-1022, 1.7976931348623157e308, 0.5, 2.0**0.5, nextafter(2.0**0.5, 0), 1e22]


@pytest.mark.parametrize(("name", "units"), [("ln", 1), ("log10", 2), ("log2", 2)])
def test_logarithms_are_within_units_in_the_last_place(name: str, units: int) -> None:
    with localcontext() as context:
        context.prec = 50
        per = {"ln": Decimal(1), "log10": Decimal(10).ln(), "log2": Decimal(2).ln()}[name]
        for x in _samples():
            found = getattr(meanings, name)(x)
            true = Decimal(x).ln() / per
            assert abs(Decimal(found) - true) <= units * Decimal(ulp(float(true))), x


def test_exponentials_are_within_a_unit_in_the_last_place() -> None:
    draw = Random(6)
    with localcontext() as context:
        context.prec = 50
        for x in [
            *(draw.uniform(-700, 709.78) for _ in range(500)),
            *(draw.uniform(-1, 1) for _ in range(200)),
            -700.0,
        ]:
            true = Decimal(x).exp()
            found = meanings.exp(x)
            assert found is not None
            assert abs(Decimal(found) - true) <= Decimal(ulp(float(true))), x
    assert meanings.exp(709.782712893384) == pytest.approx(exp(709.782712893384))
    assert meanings.exp(nextafter(709.782712893384, 1e3)) is None


def test_powers_that_a_double_holds_have_whole_logarithms() -> None:
    assert [meanings.log10(10.0**n) for n in range(23)] == list(range(23))
    assert [meanings.log10(float(f"1e{n}")) for n in range(-22, 0)] == list(range(-22, 0))
    assert [meanings.log2(2.0**n) for n in range(-1022, 1024)] == list(range(-1022, 1024))
    assert meanings.ln(1.0) == 0.0
    assert log(10) == pytest.approx(meanings.ln(10.0))
