"""A message is written once and told in the words of the face that was used."""

from pathlib import Path

import pytest

from tacit import InvalidInput, UnsupportedQuery
from tacit.cli.app import run
from tacit.errors import Face, TacitError, did_you_mean, instead, tell

COST = "name what the answer may cost: epsilon=0.5, or rho=0.01, or epsilon=0.5, delta=1e-6."
KEYS = "groups without public keys need delta= beside epsilon=; give keys= to avoid it."


@pytest.mark.parametrize(
    ("face", "cost", "keys"),
    [
        ("python", COST, KEYS),
        (
            "command line",
            "name what the answer may cost: --epsilon 0.5, or --rho 0.01, or --epsilon 0.5 --delta 1e-6.",
            "groups without public keys need --delta beside --epsilon; give --keys to avoid it.",
        ),
        (
            "json",
            "name what the answer may cost: 'epsilon' = 0.5, or 'rho' = 0.01, or 'epsilon' = 0.5, 'delta' = 1e-6.",
            "groups without public keys need 'delta' beside 'epsilon'; give 'keys' to avoid it.",
        ),
        (
            "page",
            "name what the answer may cost: ε = 0.5, or ρ = 0.01, or ε = 0.5, δ = 1e-6.",
            "groups without public keys need δ beside ε; give a condition such as WHERE region IN ('EU', 'US') to "
            "avoid it.",
        ),
    ],
)
def test_arguments_are_named_as_the_face_names_them(face: Face, cost: str, keys: str) -> None:
    assert (tell(COST, face), tell(KEYS, face)) == (cost, keys)


def test_what_only_python_can_do_is_left_out_elsewhere() -> None:
    error = UnsupportedQuery("use a subquery[[, or per_person]].")
    assert str(error) == "use a subquery, or per_person."
    assert error.told("command line") == "use a subquery."
    assert error.message == "use a subquery[[, or per_person]]."


def test_errors_without_words_and_of_other_code_are_told_too() -> None:
    assert str(TacitError()) == ""
    assert str(InvalidInput("it has no key=.")) == "it has no key=."


def test_the_command_line_speaks_of_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("customer,region\n1,EU\n2,US\n")
    ask = ["ask", "orders.csv", "--person", "customer", "--epsilon", "1"]
    for query, words in {
        "SELECT region, COUNT(*) FROM orders GROUP BY region": "give --keys to avoid it",
        "SELECT customer, COUNT(*) FROM orders GROUP BY customer": "GROUP BY customer) AS p.",
    }.items():
        assert run([*ask, query]) == 2
        said = capfd.readouterr().err.splitlines()[-1]
        assert words in said
        assert "=" not in said


def test_the_command_line_has_more_flags_and_a_file_for_the_rest() -> None:
    words = "give keys= or delta= beside epsilon=0.5, such as person='customer'; key= or a=3."
    assert tell(words, "command line") == (
        "give --keys or --delta beside --epsilon 0.5, such as --person customer; key (in tacit.toml) or a=3."
    )
    assert tell("b.key='y' and monkey=1, name=\"x\"", "command line") == "b.key='y' and monkey=1, --name x"
    assert tell("person= and table=", "page") == "person= and table="
    costs = "Pure('1/3'), Zcdp(2) and Approx(1, 1e-06) are left"
    assert tell(costs, "page") == "ε = 1/3, ρ = 2 and ε = 1, δ = 1e-06 are left"
    assert tell(costs, "json") == costs


def test_a_name_that_looks_like_another_is_asked_about() -> None:
    assert instead("amont", ["person", "Amount"]) == "did you mean Amount? The columns are person, Amount."
    assert instead("x", ["person", "amount"], "tables") == "the tables are person, amount."
    assert instead("x", []) == "the columns are none."
    assert did_you_mean("Medain", ["sum", "median"]) == "did you mean median?"
    assert did_you_mean("mood", ["sum", "median"]) == did_you_mean(7, ["7"]) == ""
