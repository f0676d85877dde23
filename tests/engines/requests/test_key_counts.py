"""Keys found in the data: every person keeps a few, chosen by a secret hash of their own keys alone."""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.engines.requests import KeyCounts, KeyWeights
from tests.engines import oracle
from tests.engines.requests.test_group_vectors import BY, one_key
from tests.engines.support import SCOPE, engine_over, relation, tables

SALT = bytes(range(32))


@given(tables(12), st.sampled_from(BY), st.integers(1, 3), st.integers(1, 2))
@settings(max_examples=25, deadline=None)
def test_each_person_keeps_a_few_keys(table: list[dict[str, Any]], what: Any, cap: int, least: int) -> None:
    """With the cap no one reaches, counts are exact; below it they are a choice of at most cap keys for each person."""
    by, _ = one_key(*what)
    people = oracle.persons(relation(), table)
    sets = [{oracle.key_of(by, row) for row in rows} for rows in people]
    everyone = Counter(key for keys in sets for key in keys)
    weighed = KeyWeights(by, (1, cap + 1), (10, 7), least)
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        full, few, weights = snapshot.ask(
            relation(), (KeyCounts(by, 100, least, SALT), KeyCounts(by, cap, 1, SALT), weighed)
        )
        (again,) = snapshot.ask(relation(), (KeyCounts(by, cap, 1, SALT),))
    assert dict(full) == {key: n for key, n in everyone.items() if n >= least}
    heavy = [keys for keys in sets if len(keys) <= cap + 1]
    holders = Counter(key for keys in heavy for key in keys)
    given_by = {key: sum(10 if len(keys) == 1 else 7 for keys in heavy if key in keys) for key in holders}
    assert dict(weights) == {key: weight for key, weight in given_by.items() if holders[key] >= least}
    assert dict(few) == dict(again)
    assert sum(n for _, n in few) == sum(min(cap, len(keys)) for keys in sets)
    assert all(n <= everyone[key] for key, n in few)


def test_the_choice_of_keys_depends_on_the_salt_and_not_on_the_order_of_rows() -> None:
    empty = dict.fromkeys(SCOPE.tables["t"])
    table = [empty | {"who": 1, "i": i} for i in range(40)]
    by = (SCOPE.find("i"),)
    chosen = []
    for rows, salt in ((table, SALT), (table[::-1], SALT), (table, bytes(32))):
        with engine_over(rows) as engine, engine.snapshot() as snapshot:
            (found,) = snapshot.ask(relation(), (KeyCounts(by, 10, 1, salt),))
        chosen.append({key for key, _ in found})
    assert chosen[0] == chosen[1]
    assert chosen[0] != chosen[2]  # equal by chance with probability 1/C(40, 10) < 2e-9
    assert len(chosen[0]) == len(chosen[2]) == 10


def test_the_salt_is_not_shown() -> None:
    assert SALT.hex() not in repr(KeyCounts((SCOPE.find("s"),), 1, 1, SALT))
    assert repr(SALT) not in repr(KeyCounts((SCOPE.find("s"),), 1, 1, SALT))
