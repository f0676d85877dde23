"""Mutants: none that the verifier breaks is proved; `tacit audit --prove` tries 200."""

from tacit.audit.proving.mutants import FAMILIES, NUMBER, judge, mutants


def test_no_broken_mutant_is_proved() -> None:
    quick = [mutant for mutant in mutants(2 * len(FAMILIES)) if "flow" not in mutant.what and "tree" not in mutant.what]
    judged = [judge(mutant) for mutant in quick[::3]]
    assert all(found.sound for found in judged), [found.mutant.what for found in judged if not found.sound]
    assert any(found.broken for found in judged)
    assert any(found.proof == "proved" for found in judged)


def test_mutants_are_drawn_with_a_seed() -> None:
    first, second = ([mutant.what for mutant in mutants()] for _ in range(2))
    assert first == second
    assert len(first) == NUMBER
