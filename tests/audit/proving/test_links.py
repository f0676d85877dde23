"""The law of a proof is the law of the code, and a law that is not is noticed."""

from fractions import Fraction

import pytest

from tacit.audit.proving import links
from tacit.audit.proving.links import LINKS, Unlike
from tacit.mechanisms.search import threshold_scan


@pytest.mark.parametrize("name", [name for name in LINKS if name != "scans"])
def test_the_code_draws_from_the_law_of_its_proof(name: str) -> None:
    assert LINKS[name]() > 50


def test_scans_walk_as_their_proof_says() -> None:
    assert links.scans() > 300


def test_another_rate_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "factor", lambda epsilon, moves: Fraction(1, 7))
    with pytest.raises(Unlike, match="exponential"):
        links.weights()


def test_another_program_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "need_of", lambda loss, offset, up: threshold_scan.need_of(loss, offset, up) + 1)
    with pytest.raises(Unlike, match="scan"):
        links.scans()
