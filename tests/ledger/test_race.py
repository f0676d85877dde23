"""The race and the kill test at reduced size; `benchmarks/ledger.py` runs them in full."""

from pathlib import Path

from tests.ledger.race import race


def test_processes_race_and_die_and_nothing_is_lost(where: str, tmp_path: Path) -> None:
    outcome = race(where, tmp_path, affordable=2000, processes=5, kills=10, seed=7)
    assert outcome.holds, outcome
    assert outcome.kills == 10
    assert len(outcome.released) <= outcome.affordable  # what was released never exceeds the budget
    assert len(outcome.released) >= outcome.affordable - outcome.kills  # at most one charge per kill was not released
