"""The tree of accounts: shares, analysts and parallel parts never let more out than the root promises."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.audit.exact import datasets, neighbours, verify
from tacit.budgets import Budget, open_budget
from tacit.errors import BudgetExceeded, InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, Renyi, Zcdp
from tacit.mechanisms.law import Law
from tacit.numbers.enclosures import Enclosure, exp
from tacit.randomness.source import Randomness

View = tuple[bool, ...]
Persons = tuple[str, ...]
Ask = tuple[str, Fraction]
"""What to ask: which part ("" for everybody), at which ε."""


class Views(Law[View]):
    """The exact law of everything an adaptive analyst sees."""

    name = "views"

    def __init__(self, probabilities: dict[View, Enclosure]) -> None:
        self._probabilities = probabilities

    def _draw(self, source: Randomness) -> View:
        raise InvalidInput("this law is only enumerated.")

    def pmf(self, y: View, bits: int = 192) -> Enclosure:
        return self._probabilities.get(y, Enclosure.of(0, bits))

    def outcomes(self) -> Iterable[View]:
        return self._probabilities


def law(
    persons: Persons,
    total: Guarantee,
    strategy: Callable[[View], Ask],
    pay: Callable[[Budget, Ask], Budget],
    steps: int,
) -> Views:
    """Play a strategy against a real budget; each question is randomised response on whether the part has anybody."""
    found: dict[View, Enclosure] = {}

    def walk(view: View, chance: Enclosure) -> None:
        budget, asked = open_budget(total), []
        for n in range(len(view) + 1):  # a budget knows the past, so replay it
            part, epsilon = strategy(view[:n])
            payer = pay(budget, (part, epsilon))
            if not payer.fits(Pure(epsilon)):
                break
            payer.charge(Pure(epsilon))
            asked.append((part, epsilon))
        if len(asked) <= len(view) or len(view) == steps:
            found[view] = found.get(view, Enclosure.of(0, 192)) + chance
            return
        part, epsilon = asked[-1]
        truth = any(part in ("", person, f"{person[int(part[1:] or 0)]}{part[1:]}") for person in persons)
        honest = exp(epsilon, 192) / (1 + exp(epsilon, 192))
        walk((*view, truth), chance * honest)
        walk((*view, not truth), chance * (1 - honest))

    walk((), Enclosure.of(1, 192))
    return Views(found)


def wandering(view: View) -> Ask:
    """Ask about one part or the other, or about everybody, depending on the answers so far."""
    step = len(view)
    if step % 3 == 2:
        return "", Fraction(1, 4)
    return ("a" if (step + sum(view)) % 2 else "b"), Fraction(1, 2)


def by_part(budget: Budget, ask: Ask) -> Budget:
    return budget.parallel("parts").part(ask[0]) if ask[0] else budget


def by_share_and_analyst(budget: Budget, ask: Ask) -> Budget:
    if ask[0] == "a":
        return budget.share(Pure("0.75"), "a")
    return budget.analyst("b", Pure("0.75"))


def by_question(budget: Budget, ask: Ask) -> Budget:
    """A broken twin of `by_part`: every question is called a part of its own, though it asks the same persons again."""
    by_question.count += 1  # type: ignore[attr-defined]
    return budget.parallel("parts").part(f"{ask[0]} {by_question.count}")  # type: ignore[attr-defined]


by_question.count = 0  # type: ignore[attr-defined]

PAIRS = neighbours(datasets(("a", "b"), 2))


@pytest.mark.parametrize(("pay", "reached"), [(by_part, Fraction(3, 2)), (by_share_and_analyst, Fraction(3, 4))])
def test_everything_seen_satisfies_the_total_exactly(pay: Callable[[Budget, Ask], Budget], reached: Fraction) -> None:
    found = verify(lambda x: law(x, Pure("1.5"), wandering, pay, 7), PAIRS, Pure("1.5"))
    assert found.holds
    assert found.measured.low >= reached - Fraction(1, 10**9)  # the analyst gets what is admitted, the check has teeth


def test_parts_that_share_persons_are_caught() -> None:
    found = verify(lambda x: law(x, Pure("1.5"), wandering, by_question, 7), PAIRS, Pure("1.5"))
    assert found.broken


def moved(view: View) -> Ask:
    """Persons may be in another part under each version: ask for "a" under version 0, then for "b" under version 1."""
    return ("a0", "a0", "b1", "b1")[len(view) % 4], Fraction(1, 2)


def by_version(budget: Budget, ask: Ask) -> Budget:
    return budget.parallel(f"parts @{ask[0][1]}").part(ask[0][0])


def by_key(budget: Budget, ask: Ask) -> Budget:
    """A broken twin of `by_version`: what a part is called under any version is one part."""
    return budget.parallel("parts").part(ask[0][0])


MOVING = neighbours(datasets(("aa", "ab", "ba", "bb"), 2))
"""Persons by the part they are in under each of two versions."""


def test_parts_of_two_versions_add_up_exactly() -> None:
    found = verify(lambda x: law(x, Pure(1), moved, by_version, 4), MOVING, Pure(1))
    assert found.holds
    assert found.measured.low >= Fraction(1) - Fraction(1, 10**9)


def test_parts_of_two_versions_in_one_group_are_caught() -> None:
    assert verify(lambda x: law(x, Pure(1), moved, by_key, 4), MOVING, Pure(1)).broken


def test_parts_cost_the_dearest_of_them() -> None:
    budget = open_budget(Approx(2, "1e-3"))
    regions = budget.parallel("region")
    regions.part("north").charge(Pure("0.5"))
    regions.part("south").charge(Approx("0.2", "1e-4"))
    assert budget.spent == Approx("0.5", "1e-4") == regions.spent
    regions.part("south").charge(Pure("0.4"))
    assert budget.spent == Approx("0.6", "1e-4")
    budget.charge(Pure("1.4"))
    assert budget.spent == Approx(2, "1e-4")
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        regions.part("south").charge(Pure("0.1"))
    regions.part("north").charge(Pure("0.1"))  # still below the south's sum, so it costs nothing more
    assert budget.spent == Approx(2, "1e-4")


def test_a_share_takes_its_total_at_once() -> None:
    budget = open_budget(Pure(2))
    share = budget.share(Pure("1.5"), "weekly")
    assert budget.spent == Pure("1.5")
    share.charge(Pure(1))
    assert (share.spent, budget.spent) == (Pure(1), Pure("1.5"))
    with pytest.raises(BudgetExceeded, match="share 'weekly'"):
        share.charge(Pure("0.6"))
    with pytest.raises(BudgetExceeded, match=r"Pure\(0.5\) left"):
        budget.share(Pure("0.6"), "other")
    assert budget.share(Pure("1.5"), "weekly").spent == Pure(1)  # found again, not taken twice
    with pytest.raises(InvalidInput, match="same terms"):
        budget.share(Pure(1), "weekly")
    inner = share.share(Pure("0.5"), "inner")
    inner.charge(Pure("0.5"))
    assert share.remaining.epsilon == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("total", "composition", "share", "taken"),
    [
        (Zcdp(1), "basic", Pure("0.5"), True),
        (Zcdp(1), "basic", Approx("0.5", "1e-6"), False),
        (Approx(1, "1e-6"), "basic", Zcdp("0.001"), False),
        (Approx(1, "1e-6"), "basic", Renyi(8, "0.001"), False),
        (Approx(1, "1e-6"), "basic", Approx("0.5", "1e-7"), True),
        (Approx(1, "1e-6"), "advanced", Zcdp("0.001"), True),
        (Approx(1, "1e-6"), "advanced", Pure("0.5"), True),
        (Approx(1, "1e-6"), "advanced", Approx("0.5", "1e-7"), True),
        (Renyi(8, 1), "basic", Pure("0.5"), True),
        (Renyi(8, 1), "basic", Zcdp("0.01"), True),
        (Pure(1), "basic", Zcdp("0.01"), False),
    ],
)
def test_which_shares_can_be_set_apart(total: Guarantee, composition: str, share: Guarantee, taken: bool) -> None:
    budget = open_budget(total, composition)
    if taken:
        assert budget.share(share, "one").total == share
    else:
        with pytest.raises(InvalidInput):
            budget.share(share, "one")
        assert budget.fits(Pure("0.1"))


def test_an_analyst_has_a_limit_of_their_own() -> None:
    budget = open_budget(Zcdp(1))
    ada, bob = budget.analyst("ada", Zcdp("0.25")), budget.analyst("bob")
    ada.charge(Zcdp("0.2"))
    bob.charge(Zcdp("0.5"))
    assert (ada.spent, bob.spent, budget.spent) == (Zcdp("0.2"), Zcdp("0.5"), Zcdp("0.7"))
    with pytest.raises(BudgetExceeded, match="analyst 'ada'"):
        ada.charge(Zcdp("0.1"))
    with pytest.raises(BudgetExceeded, match="the budget has"):
        bob.charge(Zcdp("0.4"))
    ada.amend(limit=Zcdp("0.3"))
    ada.charge(Zcdp("0.1"))
    with pytest.raises(InvalidInput, match="kind"):
        budget.analyst("eve", Pure(1))
    with pytest.raises(InvalidInput, match="only an analyst"):
        budget.share(Zcdp("0.1"), "s").amend(limit=Zcdp("0.2"))
    with pytest.raises(InvalidInput, match="order"):
        open_budget(Renyi(8, 1)).analyst("eve", Renyi(4, 1))  # sums at another order would be added up
    for word in ("", "a/b", "a\nb"):
        with pytest.raises(InvalidInput, match="printable"):
            budget.analyst(word)


def test_a_zcdp_cost_of_an_analyst_counts_fully_for_an_advanced_budget() -> None:
    budget = open_budget(Approx(3, "1e-6"), "advanced")
    budget.analyst("ada", Approx("0.5", "1e-7")).charge(Zcdp("0.001"))
    limit = budget.spent
    assert isinstance(limit, Approx)
    assert limit.epsilon >= Zcdp("0.001").to(Approx, delta="5e-7").epsilon


sizes = st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=100)
moves = st.lists(
    st.tuples(st.sampled_from(["root", "share", "ada", "north", "south", "ada north"]), sizes), max_size=30
)


@settings(max_examples=50, deadline=None)
@given(moves)
def test_whatever_is_charged_where_no_person_pays_more_than_the_total(moves: list[tuple[str, Fraction]]) -> None:
    """Pathwise: for a person in one part, every admitted charge that concerns them adds up to the total at most."""
    budget = open_budget(Pure(3))
    share, ada, regions = budget.share(Pure(1), "s"), budget.analyst("ada", Pure(2)), budget.parallel("region")
    places = {
        "root": budget,
        "share": share,
        "ada": ada,
        "north": regions.part("north"),
        "south": regions.part("south"),
        "ada north": ada.parallel("region").part("north"),
    }
    paid: dict[Hashable, Fraction] = {"north": Fraction(0), "south": Fraction(0)}
    for place, size in moves:
        fits = places[place].fits(Pure(size))
        try:
            places[place].charge(Pure(size))
        except BudgetExceeded:
            assert not fits
            continue
        assert fits
        for budget_ in places.values():
            left = budget_.remaining
            assert isinstance(left, Pure)
            assert not left.epsilon or budget_.fits(left)
            assert not budget_.fits(Pure(left.epsilon + Fraction(1, 1000)))
        for person in paid:
            if place in ("root", "share", "ada") or str(person) in place:
                paid[person] += size
    assert max(paid.values()) <= 3
    assert share.spent.epsilon <= 1  # type: ignore[attr-defined]
    assert ada.spent.epsilon <= 2  # type: ignore[attr-defined]
