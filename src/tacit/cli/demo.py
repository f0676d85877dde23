"""`tacit demo`: eight questions about real wages, with no bound given anywhere.

The bundled data are public, so the tour may do what nobody should do with private data: look at the truth, and say how
far each answer is off, and how far an answer with a clipping bound picked by hand would have been off on average. For a
total to which each person adds at most B, and Laplace noise of scale b = B/ε on top of a bias d, that is
E|d + noise| = |d| + b·e^{−|d|/b}.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp
from pathlib import Path
from statistics import linear_regression
from typing import TYPE_CHECKING, Any

import tacit
from tacit import Answer, Answers, Private, Public, Pure, Session
from tacit.answers.values import rough_percent, show
from tacit.cli.speech import fit_lines, notice, save, say_json, working
from tacit.data import INDUSTRIES, WAGES
from tacit.errors import InvalidInput
from tacit.grids import digits

if TYPE_CHECKING:
    import duckdb
    from rich.console import Console

BUDGET = 3
BLOCKS = 150
"""Blocks of women for the function, some thirty in each."""
WIDTH = 80


@dataclass(frozen=True)
class Guess:
    """A clipping bound that somebody might have picked, and how far off it would have been on average."""

    words: str
    error: float
    """As a share of the truth."""


@dataclass(frozen=True)
class TourQuestion:
    """One stop of the tour."""

    words: str
    text: str
    """What is asked: SQL, or the call that hands over a function."""
    epsilon: str
    guesses: Callable[[Truth, float], Sequence[Guess]]
    remark: str = ""
    function: bool = False

    def ask(self, session: Session, truth: Truth) -> Answer | Answers:
        """The private answer."""
        if self.function:
            return tacit.sample_and_aggregate(
                slope,
                truth.careers,
                blocks=BLOCKS,
                grid=digits(2),
                epsilon=self.epsilon,
                session=session,
                trusted=True,  # it is ours
            )
        return session.sql(self.text, epsilon=self.epsilon)

    def true(self, truth: Truth) -> list[tuple[Any, ...]]:
        """The true answer, as rows."""
        return [(slope(list(truth.careers.values())),)] if self.function else truth.rows(self.text)


Career = list[tuple[int, float]]
"""A woman's ages and wages."""


def slope(women: list[Career]) -> float:
    """The wage that a year of age adds, by least squares: a function that Tacit knows nothing about."""
    ages, wages = zip(*(interview for career in women for interview in career), strict=True)
    return linear_regression(ages, wages).slope


class Truth:
    """What is true of the bundled data, which are public."""

    def __init__(self) -> None:
        import duckdb

        self._connection: duckdb.DuckDBPyConnection = duckdb.connect()
        for name, file in (("wages", WAGES), ("industries", INDUSTRIES)):
            self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM '{file}'")

    @cached_property
    def careers(self) -> dict[int, Career]:
        """Each woman's ages and wages."""
        found: dict[int, Career] = {}
        for woman, age, wage in self.rows("SELECT woman, age, wage::DOUBLE FROM wages WHERE age IS NOT NULL"):
            found.setdefault(woman, []).append((age, wage))
        return found

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self._connection.execute(query).fetchall()

    def one(self, query: str) -> float:
        """The number that a query has."""
        return float(self.rows(query)[0][0])


def _total(amount: str, *bounds: tuple[int, str]) -> Callable[[Truth, float], list[Guess]]:
    """Guesses at the most that one woman may add to a total."""

    def guesses(truth: Truth, epsilon: float) -> list[Guess]:
        totals = f"(SELECT {amount} AS total FROM wages GROUP BY woman HAVING {amount} IS NOT NULL)"
        whole = truth.one(f"SELECT SUM(total) FROM {totals}")
        found = []
        for bound, words in bounds:
            missing = whole - truth.one(f"SELECT SUM(LEAST(total, {bound})) FROM {totals}")
            found.append(Guess(words, _expected(missing, bound / epsilon) / whole))
        return found

    return guesses


def _expected(bias: float, scale: float) -> float:
    """E|bias + Laplace noise of this scale|."""
    return bias + scale * exp(-bias / scale)


def _mean(truth: Truth, epsilon: float) -> list[Guess]:
    """Guesses at the highest wage, the number of interviews known and at most 15 for each woman."""
    rows, mean = truth.one("SELECT COUNT(wage) FROM wages"), truth.one("SELECT AVG(wage) FROM wages")
    found = []
    for bound, words in ((8, "wages clipped at 8"), (1000, "wages clipped at 1,000")):
        bias = mean - truth.one(f"SELECT AVG(LEAST(wage, {bound})) FROM wages")
        found.append(Guess(words, _expected(bias, 15 * bound / epsilon / rows) / mean))
    return found


def _median(truth: Truth, epsilon: float) -> list[Guess]:
    """A guess at the highest wage; a median cannot leave the range that was guessed."""
    value = truth.one("SELECT MEDIAN(wage) FROM wages")
    return [Guess("wages clipped at 4", 1 - 4 / value)]


def _highest(truth: Truth, epsilon: float) -> list[Guess]:
    """Guesses at the highest wage, with noise for all of the guessed range."""
    value = truth.one("SELECT MAX(wage) FROM wages")
    return [
        Guess(f"wages clipped at {show(bound)}", _expected(value - min(bound, value), bound / epsilon) / value)
        for bound in (10, 1000)
    ]


def _industries(truth: Truth, epsilon: float) -> list[Guess]:
    """Guesses at the number of interviews of one woman in all three industries together."""
    clipped = [(5, "5 interviews a woman"), (100, "100 interviews a woman")]
    counts = truth.rows(JOINED)
    found = []
    for bound, words in clipped:
        kept = dict(
            truth.rows(
                f"SELECT name, SUM(LEAST(1.0, {bound} / n)) FROM (SELECT name, COUNT(*) OVER (PARTITION BY woman) AS n "
                f"FROM wages JOIN industries ON industry = code WHERE {CHOSEN}) GROUP BY name"
            )
        )
        errors = [_expected(count - float(kept[name]), bound / epsilon) / count for name, count in counts]
        found.append(Guess(words, sum(errors) / len(errors)))
    return found


def _slopes(truth: Truth, epsilon: float) -> list[Guess]:
    """Guesses at the largest slope of a block, the slopes of all blocks averaged with noise for that range."""
    value = slope(list(truth.careers.values()))
    return [
        Guess(f"slopes clipped at {bound:g}", _expected(value - min(bound, value), bound / BLOCKS / epsilon) / value)
        for bound in (0.1, 100)
    ]


CHOSEN = "name IN ('Manufacturing', 'Trade', 'Finance')"
JOINED = f"SELECT name, COUNT(*) FROM wages JOIN industries ON industry = code WHERE {CHOSEN} GROUP BY name"
NONE = "A woman counts once, so there is no bound to guess."

QUESTIONS = [
    TourQuestion(
        "How many women were interviewed?",
        "SELECT COUNT(DISTINCT woman) FROM wages",
        "0.1",
        lambda truth, epsilon: (),
        NONE,
    ),
    TourQuestion(
        "How many interviews were there?",
        "SELECT COUNT(*) FROM wages",
        "0.2",
        _total("COUNT(*)", (5, "5 interviews a woman"), (100, "100 interviews a woman")),
    ),
    TourQuestion(
        "What would all of them earn in one week?",
        "SELECT SUM(wage * hours) FROM wages",
        "0.5",
        _total("SUM(wage * hours)", (1000, "1,000 a woman"), (100_000, "100,000 a woman")),
    ),
    TourQuestion("What is the mean hourly wage?", "SELECT AVG(wage) FROM wages", "0.4", _mean),
    TourQuestion(
        "And the median?",
        "SELECT MEDIAN(wage) FROM wages",
        "0.3",
        _median,
    ),
    TourQuestion(
        "What is the highest wage?",
        "SELECT MAX(wage) FROM wages",
        "0.3",
        _highest,
        "A maximum is one woman's secret: what can be told is a wage that hardly anybody exceeds.",
    ),
    TourQuestion("How many interviews in three industries, joined by code?", JOINED, "0.4", _industries),
    TourQuestion(
        "How much does a year of age add to the wage? Ask any function you like.",
        f"tacit.sample_and_aggregate(slope, careers, blocks={BLOCKS}, grid=digits(2), …)",
        "0.8",
        _slopes,
        "Tacit ran the function on blocks of women and knows nothing else about it.",
        function=True,
    ),
]


def tour(picture: Path, as_json: bool = False) -> None:
    """Ask the questions, show answers and budget, and draw the picture."""
    from rich.console import Console

    console = Console(highlight=False, quiet=as_json, soft_wrap=True)
    truth, stops = Truth(), list[Stop]()
    _say(console, OPENING)
    tables: dict[str, Private | Public] = {"wages": Private(WAGES, person="woman"), "industries": Public(INDUSTRIES)}
    with Session(tables, budget=Pure(BUDGET)) as session:
        for number, question in enumerate(QUESTIONS, 1):
            with working("asking"):
                answer = question.ask(session, truth)
            guesses = question.guesses(truth, float(question.epsilon))
            stops.append(Stop(question, answer, _off(answer, question.true(truth)), tuple(guesses)))
            _show(console, number, stops[-1])
            _show_budget(console, float(session.budget.spent.epsilon))  # type: ignore[attr-defined]
    _say(console, f"\n{CLOSING}")
    drawn = _draw(stops, picture)
    if as_json:
        say_json({"answers": [stop.to_dict() for stop in stops], "picture": str(picture) if drawn else None})


OPENING = (
    "Real data: 28,534 interviews of 4,711 young women about their work, 1968 to 1988 (National Longitudinal Survey, a "
    "work of the U.S. government in the public domain). A woman has several rows. Protected is any one woman with all "
    "her rows, and no clipping bound is given anywhere.\n\n"
    "These data are public. So we may look at the truth and say how far each answer is off, and how far two bounds "
    "picked by hand would have been off on average: one too low, one on the safe side. With private data nobody can."
)
CLOSING = (
    "Every answer was charged before a row was read, and the budget cannot be overdrawn. Next: tacit ask, on a file of "
    "yours; tacit plan, to choose ε; tacit audit, to check every promise on this machine."
)


@dataclass(frozen=True)
class Stop:
    """A question with its answer and what might have been."""

    question: TourQuestion
    answer: Answer | Answers
    off: float
    """How far the answer lies from the truth, as a share of it."""
    guesses: tuple[Guess, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        guesses = [{"bound": guess.words, "off": guess.error} for guess in self.guesses]
        asked = {"question": self.question.words, "asked": self.question.text}
        return {**asked, "answer": self.answer.to_dict(), "off": self.off, "guessed_bounds": guesses}


def _off(answer: Answer | Answers, rows: list[tuple[Any, ...]]) -> float:
    """How far from the truth, as a share of it; the mean over groups."""
    pairs = [(answer, rows[0][0])] if isinstance(answer, Answer) else [(answer[key], value) for key, value in rows]
    errors = [abs(float(found) / float(value) - 1) for found, value in pairs]
    return sum(errors) / len(errors)


def _say(console: Console, text: str, indent: str = "", style: str | None = None) -> None:
    console.print(fit_lines(text, min(WIDTH, console.width), indent), style=style, markup=False)


def _show(console: Console, number: int, stop: Stop) -> None:
    """One stop: the question, the answer with its own words about its error, and the bounds that were not needed."""
    question = stop.question
    _say(console, f"\n{number}. {question.words}", style="bold")
    _say(console, f"ε = {question.epsilon}: {question.text}", "   ", "dim")
    _say(console, str(stop.answer), "   ", "cyan")
    _say(console, f"Off by {rough_percent(stop.off)}. {question.remark}", "   ")
    if stop.guesses:
        guessed = "; ".join(f"{guess.words}: off by {rough_percent(guess.error)}" for guess in stop.guesses)
        _say(console, f"With a guessed bound instead: {guessed}.", "   ")


def _show_budget(console: Console, spent: float) -> None:
    left = round(30 * (1 - spent / BUDGET))
    _say(console, f"budget {'█' * left}{'░' * (30 - left)} {BUDGET - spent:g} of {BUDGET} left", "   ", "green")


def _draw(stops: Sequence[Stop], picture: Path) -> bool:
    """The picture, where matplotlib is there to draw it."""
    from tacit import plots

    try:
        figure = plots.comparison(
            {stop.question.words: {"Tacit": stop.off} | _named(stop.guesses) for stop in stops},
            Pure(BUDGET),
            [(stop.question.words, Pure(stop.question.epsilon)) for stop in stops],
        )
    except InvalidInput as error:
        notice(f"no picture: {error}")
        return False
    save(figure, picture)
    return True


def _named(guesses: Sequence[Guess]) -> dict[str, float]:
    return dict(
        zip(
            ("a guessed bound, too low", "a guessed bound, on the safe side"),
            (guess.error for guess in guesses),
            strict=False,
        )
    )
