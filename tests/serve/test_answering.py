"""Answers as people read them: words for every kind of interval, a picture for each aggregate, nothing unescaped."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import pytest

import tacit
from tacit.answers import Answer, Answers
from tacit.answers.results import Result, Row
from tacit.answers.spreads import Spread
from tacit.guarantees import Approx, Pure
from tacit.serve import answering, comparing
from tests.serve.test_drawings import OneSided, made


@pytest.mark.parametrize("value", [None, date(2020, 1, 1), "text", 1e400])
def test_what_cannot_be_drawn_is_said_in_words(value: Any) -> None:
    answer = made(value, noisy=value is None)
    assert "Sum of &lt;x&gt;" in answering.answer(answer)
    assert "<svg" not in answering.answer(answer)


def test_what_is_known_is_said_in_plain_words() -> None:
    assert answering.reading(made(7)).startswith("The truth lies between ")
    assert answering.reading(made(7, spread=OneSided())) == "At least 6, and possibly far more (95 % sure)."
    assert answering.reading(made(None)).startswith("There is no answer")
    assert answering.reading(made(7, noisy=False)) == "How far it may be off is not known."


def test_a_cap_that_binds_is_said() -> None:
    class Capped(Spread):
        covers = "capped value"

        def interval(self, value: Any, confidence: Fraction) -> tuple[Any, Any]:
            return value - 5, value + 5

        def cut(self, level: Fraction) -> str:
            return f"At most {self.above} are far up."

        def truth(self, confidence: Fraction) -> tuple[Any, Any] | None:
            return self.ends

        def at_least(self, value: Any, confidence: Fraction) -> Any:
            return self.least

        def __init__(self, above: int, least: int | None, ends: tuple[int, int] | None = None) -> None:
            self.above, self.least, self.ends = above, least, ends

    words = answering.reading(made(100, spread=Capped(3, 90)))
    assert words.startswith(
        "The truth is at least 90, and possibly far more (95 % sure). The capped value lies between"
    )
    assert words.endswith("between 95 and 105 (95 % sure). At most 3 are far up.")
    words = answering.reading(made(100, spread=Capped(3, 90, (91, 140))))
    assert words.startswith("The truth lies between 91 and 140 (95 % sure). The capped value lies between")
    words = answering.reading(made(100, spread=Capped(3, None)))
    assert words.startswith("The capped value lies between 95 and 105 (95 % sure); the truth may be far from it.")


def result(keys: list[Any], by: str = "place", values: int = 2) -> Result:
    names = [f"<b>{i}</b>" for i in range(values)]
    rows = [Row((key,), (key, *(made(10 * place + i) for i in range(values)))) for place, key in enumerate(keys)]
    return Result((by, *names), names, rows, (by,), Pure(1))


def test_each_aggregate_has_a_picture_of_its_own_under_its_alias() -> None:
    page = answering.answer(result(["<north>", "south", None]))
    assert page.count("<figure>") == page.count('<table class="bars">') == 2
    assert "<strong>&lt;b&gt;0&lt;/b&gt;</strong>" in page
    assert "&lt;north&gt;" in page
    assert "<north>" not in page
    assert "<b>" not in page
    along = answering.answer(result([date(2020, month, 1) for month in (3, 1, 2)], "<day>"))
    assert along.count('class="stretch line"') == 2
    assert "2020-01-01" in along
    assert answering.answer(result([1970, 1975, 1980], "year")).count('class="stretch line"') == 2
    assert 'class="stretch line"' not in answering.answer(result([1970, 1975, 1980], "code"))
    assert "The first 60 of 70" in answering.answer(result(list(range(70)), "code"))
    alone = Result(("a", "b"), ("a", "b"), (Row((), (made(1), made(2))),), (), Pure(1))
    assert answering.answer(alone).count('class="big"') == 2


def test_answers_without_groups_notes_and_nothing() -> None:
    answers = Answers({"<north>": made(100), ("a", 1): made(-5), "odd": made(None)}, Pure(1), "place")
    page = answering.answer(answers)
    assert "&lt;north&gt;" in page
    assert page.count('class="stretch bar-row"') == 2
    assert "No group was large enough" in answering.answer(Answers({}, Approx(1, "1e-6"), "place"))
    noted = Answer("sum", 5, Pure(1), "noise", "any one", notes=("<i>first</i>",))
    assert answering.answer(noted).startswith('<p class="notice plain" role="status">&lt;i&gt;first')
    assert 'id="copied" hidden>Sum, over all rows: 5' in answering.to_keep(noted)


def test_differences_hold_what_both_intervals_hold() -> None:
    assert "The first is higher, by " in comparing.difference(made(100), made(10))
    assert "The second is higher, by " in comparing.difference(made(10), made(100))
    assert "They may be equal" in comparing.difference(made(10), made(11))
    assert "nothing bounds one" in comparing.difference(made(10), made(11, spread=OneSided()))
    assert "no difference" in comparing.difference(made(None), made(1))
    low, high = (float(x) for x in made(100).interval("0.975"))
    other = [float(x) for x in made(10).interval("0.975")]
    assert f"by {low - other[1]:g} to {high - other[0]:g}" in comparing.difference(made(100), made(10))


def test_only_the_same_statistic_is_subtracted() -> None:
    count = Answer("count", 5, Pure(1), "noise", "any one")
    assert "different questions" in comparing.compare(made(1), count)
    assert "different questions" in comparing.compare(made(1), result(["a"]))
    both = comparing.compare(result(["a", "<i>"], values=1), result(["<i>", "b"], values=1))
    assert "&lt;i&gt;" in both
    assert "2 more are in one of them only" in both
    assert "They may be equal" in comparing.compare(made(10), made(11))


def test_a_real_answer_reads_well() -> None:
    pa = pytest.importorskip("pyarrow")
    rows = pa.table({"who": list(range(400)), "v": [i % 7 for i in range(400)]})
    with tacit.Session({"t": tacit.Private(rows, person="who")}, budget=Pure(10)) as session:
        found = session.sql("SELECT COUNT(*) AS n, SUM(v) AS total FROM t", epsilon=5)
        page = answering.answer(found)
        assert "n (" in page
        assert "total (sum of v), over all rows" in page
        assert "protects any one who with all their rows" in page
