"""Every statistic of rows that concern several persons, verified exactly over all sets of persons of small networks.

Under node privacy: a neighbour lacks one person and every row that touches it. The twin knows only the first person
of every row, and the same check catches it.
"""

from typing import Any

import pytest

from tacit.audit.networks import RING, Network, NetworkCheck
from tacit.audit.questions import questions, small_tables
from tacit.flows.incidences import Incidences
from tacit.tables.statistics.asking import Audited
from tacit.tables.statistics.ways import shared_rows

NETWORK = [question for question in questions() if question.network]
each_question = pytest.mark.parametrize("question", NETWORK, ids=[question.name for question in NETWORK])


@pytest.fixture(scope="module")
def ring() -> NetworkCheck:
    """A triangle and a row of three: capped values that are no whole numbers, and a linear program."""
    return NetworkCheck(RING)


@each_question
def test_statistic_of_a_network_keeps_its_promise(question: Audited) -> None:
    report = small_tables(network=True).check(question, paths=2)
    assert report.stages
    assert report.spent
    assert report.holds, [stage for stage in report.stages if not stage.verification.holds]


@pytest.mark.parametrize("name", ["count", "second largest", "distinct values", "modal count", "maximum degree"])
def test_a_triangle_and_a_row_of_three(name: str, ring: NetworkCheck) -> None:
    (question,) = (question for question in NETWORK if question.name == f"network: {name}")
    assert ring.check(question, paths=2).holds


STAR: Network = tuple((weight, f"{leaf}z") for leaf in "abcdefgh" for weight in (2, 3, 1))
"""Everything touches z, whom the twin does not know."""


def only_the_first(touches: Any, sign: int = 1) -> Incidences:
    return Incidences.from_columns(sign * touches.weights, [touches.persons[0]])


@each_question
def test_persons_forgotten_are_caught(question: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    check = NetworkCheck(STAR, [tuple("abcdefgh"), tuple("abcdefghz")])
    assert check.check(question, paths=2).holds
    monkeypatch.setattr(shared_rows, "rows_of", only_the_first)
    assert not check.check(question, paths=2).holds
