"""The verifier itself: right on laws whose privacy loss is known, and not fooled by what it cannot see."""

from collections.abc import Mapping
from fractions import Fraction
from math import exp as power
from math import log

import pytest

from tacit.audit.exact import (
    Dataset,
    Listed,
    datasets,
    examine,
    hockey_stick,
    max_divergence,
    neighbours,
    renyi_divergence,
    table,
    verify,
)
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Pure, Renyi, Zcdp
from tacit.mechanisms import Law, laplace
from tacit.numbers.enclosures import BITS, Enclosure, exp
from tacit.randomness import Randomness
from tests.support import agrees

Weights = Mapping[str, Fraction | Enclosure]


class TableLaw(Law[str]):
    """A law given by its table; what the table leaves out is an output that is not listed."""

    name = "table"
    guarantee = Pure(1)

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def _draw(self, source: Randomness) -> str:
        return next(iter(self._weights))

    def pmf(self, y: str, bits: int = BITS) -> Enclosure:
        return Enclosure.of(self._weights.get(y, 0), bits)

    def outcomes(self) -> list[str]:
        return list(self._weights)


def coin(share: Fraction | Enclosure) -> TableLaw:
    return TableLaw({"heads": share, "tails": 1 - share})


def response(x: Dataset) -> TableLaw:
    """Randomised response about whether anybody is there, at exactly ε = 1."""
    yes = exp(1, 256) / (1 + exp(1, 256))
    return coin(yes if x else 1 - yes)


PAIRS = [(("a",), ())]


def test_datasets_and_neighbours_are_complete() -> None:
    found = datasets("ab", 2)
    assert found == [(), ("a",), ("b",), ("a", "a"), ("a", "b"), ("b", "b")]
    assert neighbours(found) == [
        (("a",), ()),
        (("b",), ()),
        (("a", "a"), ("a",)),
        (("a", "b"), ("a",)),
        (("a", "b"), ("b",)),
        (("b", "b"), ("b",)),
    ]


def test_randomised_response_is_exactly_tight_and_broken_below() -> None:
    found = verify(response, PAIRS, Pure(1))
    assert found.verdict == "tight"
    assert found.tightness == pytest.approx(1)
    assert found.worst == (("a",), ())
    assert verify(response, PAIRS, Pure("0.999999999")).verdict == "broken"
    assert verify(response, PAIRS, Pure(2)).verdict == "loose"


def test_a_violation_in_one_direction_only_is_found() -> None:
    laws = {("a",): coin(Fraction(1, 2)), (): coin(Fraction(9, 10))}
    found = verify(lambda x: laws[x], PAIRS, Pure(1))
    assert found.verdict == "broken"
    assert float(found.measured) == pytest.approx(log(5))


def test_an_output_only_one_neighbour_has_is_infinite() -> None:
    laws = {("a",): TableLaw({"x": Fraction(1)}), (): TableLaw({"x": Fraction(1, 2), "y": Fraction(1, 2)})}
    assert verify(lambda x: laws[x], PAIRS, Pure(50)).verdict == "broken"
    # its mass is what δ pays for
    assert verify(lambda x: laws[x], PAIRS, Approx(1, "0.5")).verdict == "tight"
    assert verify(lambda x: laws[x], PAIRS, Approx(1, "0.49")).verdict == "broken"


def test_what_a_window_leaves_out_counts_as_one_output() -> None:
    laws = {("a",): TableLaw({"x": Fraction(9, 10)}), (): TableLaw({"x": Fraction(1, 2)})}
    found = verify(lambda x: laws[x], PAIRS, Pure(1))
    assert found.verdict == "broken"  # 0.5 against 0.1 outside
    assert float(found.measured) == pytest.approx(log(5))


def test_an_enclosure_too_wide_to_decide_is_undecided() -> None:
    wide = Enclosure.between(Fraction(2, 5), Fraction(3, 5))
    laws = {("a",): coin(wide), (): coin(Fraction(1, 2))}
    assert verify(lambda x: laws[x], PAIRS, Pure("0.1")).verdict == "undecided"


def test_divergences_match_their_formulas() -> None:
    p, q = (table(coin(share), ["heads", "tails"]) for share in (Fraction(3, 4), Fraction(1, 4)))
    assert float(max_divergence(p, q)) == pytest.approx(log(3))
    assert float(hockey_stick(p, q, Fraction(1, 2))) == pytest.approx(0.75 - 0.25 * 2.718281828459045**0.5)
    assert float(renyi_divergence(p, q, Fraction(2))) == pytest.approx(log(0.75**2 / 0.25 + 0.25**2 / 0.75))


def test_renyi_promises_are_compared_at_their_orders() -> None:
    """Randomised response at odds 3: D_2 = ln(7/3) = 0.8473, so ρ > 0.42; pure ln 3 gives ρ ≤ ε·tanh(ε/2) = 0.5493."""
    laws = {("a",): coin(Fraction(3, 4)), (): coin(Fraction(1, 4))}
    assert verify(lambda x: laws[x], PAIRS, Renyi(2, "0.8474")).verdict == "tight"
    assert verify(lambda x: laws[x], PAIRS, Renyi(2, "0.8472")).verdict == "broken"
    assert verify(lambda x: laws[x], PAIRS, Zcdp("0.5494")).holds
    assert verify(lambda x: laws[x], PAIRS, Zcdp("0.42")).verdict == "broken"


def test_the_whole_picture_of_laplace_noise() -> None:
    """ε = 1 exactly; δ(ε) = 0 from there on; at ε = 0 the total variation distance (1 − r)/(1 + r), r = e^-1."""
    found = examine(lambda x: laplace(len(x), 1), ("a",), 3, epsilons=["0", "0.5", "1"], orders=[2])
    assert found.verdict == "tight"
    assert float(found.loss) == pytest.approx(1)
    assert found.worst is not None
    assert abs(len(found.worst[0]) - len(found.worst[1])) == 1
    r = power(-1)
    assert float(found.deltas[Fraction(0)]) == pytest.approx((1 - r) / (1 + r))
    assert 0 < float(found.deltas[Fraction(1, 2)]) < float(found.deltas[Fraction(0)])
    assert float(found.deltas[Fraction(1)]) < 2**-40
    assert 0.5 < float(found.divergences[Fraction(2)]) < 1


def test_a_table_of_probabilities_can_be_examined() -> None:
    def coin_table(x: Dataset) -> dict[str, Fraction]:
        share = Fraction(3, 4) if x else Fraction(1, 4)
        return {"heads": share, "tails": 1 - share}

    found = examine(coin_table, ("a",), 1, Pure("1.1"), epsilons=["0"], orders=["2"])
    assert found.verdict == "tight"
    assert float(found.loss) == pytest.approx(log(3))
    assert float(found.deltas[Fraction(0)]) == pytest.approx(0.5)
    assert float(found.divergences[Fraction(2)]) == pytest.approx(log(7 / 3))
    assert examine(coin_table, ("a",), 1, Pure(1)).verdict == "broken"
    with pytest.raises(InvalidInput):
        examine(coin_table, ("a",), 1)
    with pytest.raises(InvalidInput):
        examine(coin_table, (), 1, Pure(1))


def test_a_listed_law_draws_as_listed() -> None:
    """False alarm 1e-7."""
    law = Listed({"a": Fraction(1, 6), "b": "0.5", "c": Fraction(1, 3)}, Pure(1))
    assert agrees(law.sample(3000), {"a": 1 / 6, "b": 1 / 2, "c": 1 / 3})
    with pytest.raises(InvalidInput):
        Listed({"a": "0.5"}, Pure(1))
