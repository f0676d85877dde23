"""Every law says what an audit needs: its key, where it tells most, what is followed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

import pytest

from tacit.audit.exact import verify
from tacit.audit.registry import AuditCase, cases
from tacit.guarantees import Pure
from tacit.mechanisms.law import Law

CASES = tuple(cases())


def _classes(above: type[Law[Any]] = Law) -> Iterator[type[Law[Any]]]:
    for kind in above.__subclasses__():
        if kind.__module__.startswith("tacit.mechanisms"):
            yield kind
            yield from _classes(kind)


def _told(case: AuditCase) -> Sequence[Any] | None:
    laws = [case.law(x) for x in case.datasets]
    return laws[0].telling_points(laws)


LAWS = [kind for kind in dict.fromkeys(_classes()) if not inspect.isabstract(kind)]


@pytest.mark.parametrize("kind", LAWS, ids=lambda kind: kind.__name__)
def test_every_law_of_a_mechanism_says_what_it_depends_on(kind: type[Law[Any]]) -> None:
    assert kind.key is not Law.key


def test_all_laws_are_walked() -> None:
    assert len(LAWS) > 20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_laws_of_equal_keys_are_one_law(case: AuditCase) -> None:
    first, last = case.law(case.datasets[0]), case.law(case.datasets[-1])
    assert hash(first.key()) == hash(first.key())
    if type(first) not in LAWS:
        return
    assert first.key() == case.law(case.datasets[0]).key()
    if any(first.pmf(y, 64).high < last.pmf(y, 64).low for y in islice(first.outcomes(), 50)):
        assert first.key() != last.key()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_followed_can_be_drawn(case: AuditCase) -> None:
    law = case.law(case.datasets[-1])
    assert all(law.pmf(y, 64).high > 0 for y in islice(law.outcomes_to_follow(), 3))


PURE = [case for case in CASES if isinstance(case.promised, Pure)]


def test_some_laws_name_telling_points() -> None:
    kinds = {type(case.law(case.datasets[0])).__name__ for case in PURE if _told(case) is not None}
    assert {"NoisyInteger", "NoiseVector", "CappedTotalLaw", "SignedTotalLaw", "CappedFlowLaw", "ScanLaw"} <= kinds


@pytest.mark.parametrize("case", PURE, ids=lambda case: case.name)
def test_telling_points_show_as_much_as_all_outputs(case: AuditCase) -> None:
    points = _told(case)
    if points is None:
        return  # all outputs are compared
    pairs = case.pairs(case.datasets)[:20]
    listed = verify(case.mechanism, pairs, case.promised, 64)
    told = verify(case.mechanism, pairs, case.promised, 64, points)
    assert abs(told.measured.high - listed.measured.high) < Fraction(1, 10**9)


@pytest.mark.parametrize("case", [case for case in PURE if case.twins], ids=lambda case: case.name)
def test_telling_points_catch_broken_twins(case: AuditCase) -> None:
    for name, twin in case.twins.items():
        laws = [twin(x) for x in case.datasets]
        points = laws[0].telling_points(laws)
        if points is None:
            return
        assert verify(twin, case.pairs(case.datasets), case.promised, 64, points).broken, name
