"""The checker stands alone, its bounds are rigorous, and tampered certificates are refused."""

from __future__ import annotations

import ast
import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import Approx, Private, Session, checker
from tacit.cli.app import run
from tacit.ledger import open_ledger
from tacit.ledger.positions import misplaced
from tacit.noises import DiscreteGaussian
from tacit.numbers.enclosures import exp, log

SOURCE = Path(checker.__file__)


def test_it_is_short_and_imports_only_the_standard_library() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 500
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            assert all(name.partition(".")[0] in sys.stdlib_module_names for name in names)
            assert not isinstance(node, ast.ImportFrom) or node.level == 0


# ---- bounds -------------------------------------------------------------------------------------------------------

FRACTIONS = st.fractions(min_value=0, max_value=300, max_denominator=10**9)


@given(FRACTIONS)
def test_exp_is_enclosed(x: Fraction) -> None:
    low, high = checker.exp_minus(x)
    known = exp(-x, 400)
    assert low <= known.high
    assert known.low <= high
    assert high - low <= known.high / 2**150


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_log_is_bounded_from_above_and_closely(x: Fraction) -> None:
    known = log(x, 300)
    assert known.low <= checker.log_above(x) <= known.high + Fraction(1, 10**24)


def test_what_is_beyond_all_bounds_is_next_to_nothing() -> None:
    assert checker.exp_minus(Fraction(10**6)) == (Fraction(0), checker.TINY)
    assert checker.log_above(Fraction(1)) < Fraction(1, 2**100)


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(3), Fraction(400), Fraction(4096), Fraction(10**6)])
@pytest.mark.parametrize("deviations", [2, 5])
def test_gaussian_tails_are_bounded_from_above_and_closely(variance: Fraction, deviations: int) -> None:
    k = max(1, round(deviations * float(variance) ** 0.5))
    known = DiscreteGaussian(variance).tail(k, 192)
    bound = checker.gaussian_tail_above(variance, k)
    assert known.low <= bound <= known.high * (1 + Fraction(1, 10**6))
    assert checker.gaussian_tail_above(variance, 0) == 1


# ---- honest certificates -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates") / "ledger.db"


@pytest.fixture(scope="module")
def honest(ledger: Path) -> dict[str, Any]:
    """Certificates of several kinds, all recorded in one ledger."""
    rows: dict[str, Any] = {
        "who": [i % 90 for i in range(200)],
        "v": [i % 7 for i in range(200)],
        "g": ["xy"[i % 2] for i in range(200)],
    }
    found: dict[str, Any] = {}
    with Session({"t": Private(pa.table(rows), "who")}, Approx(100, "0.01"), ledger=ledger, name="t") as session:
        t = session["t"]
        found["persons"] = t.persons(epsilon=1)
        found["sum"] = t.sum("v", epsilon=1)
        found["Gaussian"] = t.sum("v", rho="0.1")
        found["converted"] = t.quantile("v", [i / 8 for i in range(1, 8)], epsilon=1, delta="1e-3")
        found["rho"] = t.group_by("g", keys=["x", "y"]).count(rho="0.1")
        asked = (t.group_by("g").persons(epsilon=1, delta="1e-6", fresh=True) for _ in range(9))
        found["found"] = next(answers for answers in asked if answers)  # one in some hundreds shows no key: 10^-18
        found["quantiles"] = t.quantile("v", [0.25, 0.5], epsilon=1)
        found["maximum"] = t.max("v", epsilon=1)
    with Session(
        {"t": Private(pa.table(rows), "who")}, Approx(9, "0.01"), ledger=ledger, name="s", sample="0.5"
    ) as some:
        found["sampled"] = some["t"].mean("v", epsilon=1, delta="1e-6")
    return {name: json.loads(json.dumps(answer.certificate())) for name, answer in found.items()}


KINDS = ["persons", "sum", "Gaussian", "converted", "rho", "found", "quantiles", "maximum", "sampled"]


def resealed(certificate: dict[str, Any]) -> dict[str, Any]:
    """With the digest that a forger would compute."""
    return {**certificate, "digest": checker.digest(certificate["releases"])}


@pytest.mark.parametrize("kind", KINDS)
def test_honest_certificates_are_verified_and_stand_in_the_ledger(
    honest: dict[str, Any], ledger: Path, kind: str
) -> None:
    told = checker.check(honest[kind])
    assert told.code == checker.VERIFIED, str(told)
    with open_ledger(ledger, read_only=True) as opened:
        for release in honest[kind]["releases"]:
            assert list(misplaced(opened, release)) == []


def test_it_runs_where_there_is_no_tacit(honest: dict[str, Any], tmp_path: Path) -> None:
    shutil.copy(SOURCE, tmp_path / "alone.py")
    (tmp_path / "answer.json").write_text(json.dumps(honest["sum"]), encoding="utf-8")
    command = [sys.executable, "-I", "-S", "alone.py", "answer.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=200, check=False)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "VERIFIED"), done.stderr
    assert "trusted" in done.stdout


# ---- tampering -----------------------------------------------------------------------------------------------------

Release = dict[str, Any]


def _half(text: str) -> str:
    return str(Fraction(text) / 2)


def halve_a_rate(release: Release) -> None:
    release["draws"][-1]["law"]["rate"] = _half(release["draws"][-1]["law"]["rate"])


def double_a_sensitivity(release: Release) -> None:
    law = release["draws"][-1]["law"]
    law["sensitivity"] = str(2 * Fraction(law["sensitivity"]))


def lower_the_price_with_it(release: Release) -> None:
    halve_a_rate(release)
    release["draws"][-1]["price"] = "Pure 1/2"


def lower_the_charge(release: Release) -> None:
    release["charge"] = "Pure 1/2"


def draw_off_the_lattice(release: Release) -> None:
    release["draws"][-1]["drawn"] = "1/2"


def show_another_value(release: Release) -> None:
    release["values"][0]["value"] += 1


def leave_out_a_law(release: Release) -> None:
    del release["draws"][0]


def leave_out_all_laws(release: Release) -> None:
    release["draws"], release["spent"] = [], "Pure 0"


def say_that_it_is_private(release: Release) -> None:
    release["private"] = 1


def choose_another_cap(release: Release) -> None:
    release["draws"][0]["drawn"]["cap"] = "7"


def lower_a_threshold(release: Release) -> None:
    release["draws"][-1]["law"]["threshold"] = "3"


def show_a_small_key(release: Release) -> None:
    release["draws"][-1]["drawn"][0][1] = "1"


def show_a_key_twice(release: Release) -> None:
    release["draws"][-1]["drawn"] *= 2


def lower_delta(release: Release) -> None:
    assert release["order"] is not None
    release["charge"] = "Approx 1 1/2000"


def take_a_smaller_sample(release: Release) -> None:
    release["sample"] = "9/10"


def leave_the_grid(release: Release) -> None:
    release["draws"][0]["drawn"] = "1234"


def divide_everybody(release: Release) -> None:
    """Each draw about persons of its own, on as many sides of one division."""
    for draw, side in zip(release["draws"], "abcdefghij", strict=False):
        draw["part"] = f"quantile{side}"


def count_less_than_nothing(release: Release) -> None:
    parts = [part for draw in release["draws"] for part in draw["law"].get("parts", ()) if "times" in part]
    parts[0]["times"] = "-1"


TAMPERED: list[tuple[str, Callable[[Release], None], str]] = [
    ("persons", halve_a_rate, "the law 'noise' costs ε = 0.5, and ε = 1 is said"),
    ("persons", double_a_sensitivity, "the law 'noise' costs ε = 2, and ε = 1 is said"),
    ("persons", lower_the_price_with_it, "the draws cost other than what is said"),
    ("persons", lower_the_charge, "the draws cost more than the charge of ε = 0.5"),
    ("persons", draw_off_the_lattice, "a number is not whole"),
    ("persons", show_another_value, "the number of persons is not what was drawn"),
    ("persons", leave_out_all_laws, "nothing was drawn"),
    ("persons", say_that_it_is_private, "it was made with a seeded source and protects nobody"),
    ("quantiles", leave_out_a_law, "the draws cost other than what is said"),
    ("quantiles", divide_everybody, "these prices or parts do not add up"),
    ("quantiles", count_less_than_nothing, "a move or a number of things is negative"),
    ("rho", leave_out_a_law, "the draws cost other than what is said"),
    ("Gaussian", leave_out_a_law, "a side of a division lacks draws of the other"),
    ("converted", lower_delta, "the draws cost more than the charge of ε = 1 and δ = 0.0005"),
    ("sum", choose_another_cap, "a cap is none of those to choose from"),
    ("found", lower_a_threshold, "a threshold is below what noise can reach"),
    ("found", show_a_small_key, "a key is shown below the threshold"),
    ("found", show_a_key_twice, "a key is shown twice"),
    ("sampled", take_a_smaller_sample, "the draws cost more than the charge of ε = 1 and δ = 1e-06"),
    ("maximum", leave_the_grid, "a drawn value is not on its grid"),
]


@pytest.mark.parametrize(
    ("kind", "tamper", "why"), TAMPERED, ids=lambda part: getattr(part, "__name__", str(part)[:20])
)
def test_a_tampered_certificate_is_refused(
    honest: dict[str, Any], kind: str, tamper: Callable[[Release], None], why: str
) -> None:
    certificate = copy.deepcopy(honest[kind])
    tamper(certificate["releases"][0])
    assert checker.check(certificate).wrong == ["the certificate was changed: its digest is another"]
    assert checker.check(resealed(certificate)).wrong == [why]


@pytest.mark.parametrize("odd", [{}, [], None, 3, {"tacit": "certificate 1"}, {"tacit": 2, "releases": 1, "digest": 0}])
def test_what_is_no_certificate_is_refused(odd: Any) -> None:
    assert checker.check(odd).code == checker.REFUSED


ODD_NUMBERS: dict[str, dict[str, Any]] = {
    "fewer bounds than none": {"law": "proposal", "threshold": "1/10", "each": "1/10", "room": "0", "lattice": "1"}
    | {"bounds": "-5", "rate": "1/10"},
    "fewer keys than none": {"law": "weighted keys", "noise": "discrete Gaussian", "variance": "100", "order": "10"}
    | {"threshold": "1", "least": "2", "most": "1", "weights": [["-1", "1"]]},
    "a part of a look": {"law": "looks", "noise": "discrete Laplace", "rate": "4", "sensitivity": "1", "times": "1/10"}
    | {"of": {"grid": "multiples", "step": "1", "first": None, "last": None}},
}


@pytest.mark.parametrize("name", ODD_NUMBERS)
def test_no_number_of_things_makes_a_law_cheaper(name: str) -> None:
    """By negative numbers of bounds or keys a δ was none, and by a tenth of a look ε a tenth."""
    with pytest.raises(checker.Wrong, match=r"negative|whole"):
        checker.cost_of(ODD_NUMBERS[name], checker.Price("Approx", Fraction(2, 5), Fraction(1, 10**6)))


# ---- every field ---------------------------------------------------------------------------------------------------

Place = tuple[str | int, ...]

IRRELEVANT = {
    "question": "says what was asked; the ledger knows",
    "protected": "says in words whom the charge protects; the ledger knows",
    "ledger": "says where the charge stands; the ledger knows",
    "dataset": "as above",
    "entry": "as above",
    "hash": "as above",
    "proofs": "names the proofs that are trusted",
    "statistic": "says in words what was computed",
    "key": "says in words about which group",
    "order": "any order above 1 is a valid witness",
    "first": "a longer grid holds the drawn value as well",
    "last": "as above",
    "count": "as above",
    "smallest": "as above",
    "caps": "as above",
    "drawn": "another value that the law can draw, where no value is said to come from it",
    "cap": "as above",
    "within": "as above",
    "above": "as above",
    "value": "computed from draws, which costs nothing; or the numbers by which it is computed from one",
    "from": "saying less of where a value comes from; what is said is counted in the verdict",
    "draws": "as above; for a difference of two, numbers beyond the second",
    "place": "of a draw that is no list",
    "times": "of a value that is 0",
    "step": "of a value that is 0, or of a grid that holds the drawn value as well",
    "as": "two ways to write the same value",
    "round": "of a value that needs none",
    "few": "a lower rate, one of many that meet the price: more noise than was paid for",
    "handful": "as above",
    "beyond": "which cases there are, all of which meet the price",
    "kind": "another of those that the law names",
    "looks": "what a search saw on its way",
    "many": "as above",
    "test": "as above",
    "choice": "as above",
    "threshold": "as above; of keys, a higher bar is passed by chance less often",
    "each": "as above",
    "charge": "a larger charge covers as well",
    "bound": "of noise on keys: a higher one is reached by chance less often",
    "least": "a lower bar, the threshold being what it is",
    "part": "draws that are alone in their division of the persons",
    "values": "a value that is not listed is not vouched for",
    "sample": "a smaller sample is amplified more",
}
"""Fields that may be changed so that what is checked stays true, each with the reason."""


def leaves(part: Any, place: Place = ()) -> Iterator[Place]:
    """Every place in a certificate, inner ones too."""
    if place:
        yield place
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inner:
        yield from leaves(value, (*place, key))


def mutants(value: Any) -> list[Any]:
    """Other values for a field."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int | float):
        return [value + 1, -value - 1]
    if isinstance(value, str):
        try:
            x = Fraction(value)
        except ValueError:
            kind, *numbers = value.split(" ")
            lower = [" ".join([kind, _half(numbers[0]), *numbers[1:]])] if kind in ("Pure", "Zcdp", "Approx") else []
            return [value + "x", *lower]
        return [str(x + 1), str(x / 2), str(-x - 1)]
    return [None] if value is not None else ["1"]


def changed(certificate: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """A certificate with one field changed, in all ways, sealed anew."""
    for place in leaves(certificate["releases"]):
        known = _at(certificate["releases"], place)
        for mutant in (mutant for mutant in mutants(known) if mutant != known):
            other = copy.deepcopy(certificate)
            _at(other["releases"], place[:-1])[place[-1]] = mutant
            yield place, resealed(other)


def _at(part: Any, place: Place) -> Any:
    for key in place:
        part = part[key]
    return part


def _names(place: Place) -> set[str]:
    """The name of a field: the last one that is no number, and for what was drawn "drawn"."""
    names = [key for key in place if isinstance(key, str)]
    return {names[-1] if names else "", "drawn" if "drawn" in names else ""}


@pytest.mark.parametrize("kind", KINDS)
def test_each_field_that_is_changed_is_noticed_or_irrelevant(honest: dict[str, Any], kind: str) -> None:
    unnoticed = {place for place, other in changed(honest[kind]) if checker.check(other).code == checker.VERIFIED}
    assert [place for place in unnoticed if not _names(place) & set(IRRELEVANT)] == []
    for rate in ("rate", "variance", "sensitivity", "moves", "price", "spent", "private", "weight", "noise"):
        assert not any(rate in place for place in unnoticed)


@pytest.mark.parametrize("kind", ["persons", "Gaussian", "found"])
def test_with_the_ledger_each_field_that_is_changed_is_noticed(honest: dict[str, Any], ledger: Path, kind: str) -> None:
    with open_ledger(ledger, read_only=True) as opened:
        for place, other in changed(honest[kind]):
            wrong = isinstance(other["releases"][0], dict) and not list(misplaced(opened, other["releases"][0]))
            assert not wrong, place


def test_a_certificate_does_not_stand_in_another_ledger(honest: dict[str, Any], tmp_path: Path) -> None:
    rows = {"who": [1, 2], "v": [3, 4]}
    with Session({"t": Private(pa.table(rows), "who")}, Approx(9, "0.01"), ledger=tmp_path / "o.db", name="t") as other:
        own = other["t"].persons(epsilon=1).certificate()["releases"][0]
    with open_ledger(tmp_path / "o.db", read_only=True) as opened:
        assert list(misplaced(opened, own)) == []
        (problem,) = misplaced(opened, honest["persons"]["releases"][0])
        assert problem == "its charge was recorded in another ledger than this one"
        assert list(misplaced(opened, {**own, "ledger": None})) == ["it says that its charge was recorded in no ledger"]
        moved = {**own, "ledger": {**own["ledger"], "entry": 1}}
        assert list(misplaced(opened, moved)) == ["the ledger has no such charge at that place"]


# ---- the command ---------------------------------------------------------------------------------------------------


def test_the_command_asks_and_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, ledger = tmp_path / "t.csv", str(tmp_path / "ledger.db")
    data.write_text("who,v\n" + "".join(f"{i % 50},{i % 9}\n" for i in range(300)), encoding="utf-8")
    asked = ["ask", str(data), "--person", "who", "--epsilon", "1"]
    assert run(["ledger", "create", "t", "--ledger", ledger, "--epsilon", "9", "--person", "who"]) == 0
    kept = str(tmp_path / "answer.json")
    query = "SELECT SUM(v) AS s, COUNT(*) AS n, AVG(v) / 2 AS h FROM t"
    assert run([*asked, "--ledger", ledger, "--certificate", kept, query]) == 0
    capsys.readouterr()
    assert run(["verify", kept, "--ledger", ledger]) == 0
    told = capsys.readouterr().out
    assert told.startswith(
        "VERIFIED\nchecked     sum of v: 2 draws (scan and release) cost ε = 0.333333, within ε = 0.333333;"
    )
    assert "in the ledger, for this question at this cost" in told
    assert run([*asked, "--json", "SELECT COUNT(*) FROM t"]) == 0
    shown = json.loads(capsys.readouterr().out)
    Path(kept).write_text(json.dumps(shown), encoding="utf-8")
    assert run(["verify", kept, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is True
    assert run(["verify", kept, "--ledger", ledger]) == 1
    assert "it says that its charge was recorded in no ledger" in capsys.readouterr().out
    shown["value"] += 1
    Path(kept).write_text(json.dumps(shown), encoding="utf-8")
    assert run(["verify", kept]) == 1
    assert "the number of rows that is shown is not the one that the certificate names" in capsys.readouterr().out
    Path(kept).write_text(json.dumps({**shown, "certificate": None}), encoding="utf-8")
    assert run(["verify", kept]) == 2
    assert "has no certificate: it was released by a version of Tacit" in capsys.readouterr().err
    for text in ("no JSON", "[]"):
        Path(kept).write_text(text, encoding="utf-8")
        assert run(["verify", kept]) == 2
    assert run(["verify", str(tmp_path / "nothing.json")]) == 2
    assert run([*asked, "--certificate", str(tmp_path / "no" / "where.json"), "SELECT COUNT(*) FROM t"]) == 2
    assert "nothing was asked or spent" in capsys.readouterr().err
