"""What a question would cost and answer, said before it is asked and at no cost."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import Any

from tacit.answers.values import rough_percent, show
from tacit.budgets import Advice, Question, advise
from tacit.guarantees import Approx, Guarantee, Pure


@dataclass(frozen=True, repr=False)
class ExpectedError:
    """How far off an answer will lie, as far as public facts tell.

    >>> seen = session.preview("SELECT COUNT(DISTINCT customer) FROM orders", epsilon=0.5)
    >>> round(seen.expected_error().noise_std, 2)
    2.8
    """

    words: str
    """The same in a sentence, or why nothing is known."""
    noise_std: float | None = None
    """The standard deviation of the noise, where it does not depend on the data."""
    share: float | None = None
    """19 of 20 answers lie within this share of the truth, where that was forecast."""

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        return f"<ExpectedError: {self.words}>"


GUESSED = 10
"""How many groups an error is forecast for where they are found in the data."""


@dataclass(frozen=True)
class ForeseenPart:
    """One aggregate that a question releases, as far as public facts say how far off it will be."""

    words: str
    """What would be answered."""
    cost: Guarantee
    """What it would cost."""
    statistic: str
    """Its key in ledgers."""
    groups: int | None = 1
    """How many groups it is answered for; None where they are found in the data."""
    noise_std: float | None = None
    """The standard deviation of the noise, where it does not depend on the data."""
    several: bool = False
    """Whether a row may concern several persons, or a sample of them is asked: then the forecast is too good."""

    def expected_error(self, persons: int | None = None, shape: str = "lognormal") -> ExpectedError:
        """How far off it will lie; the arguments are those of `Preview.expected_error`.

        >>> query = "SELECT region, COUNT(*) FROM orders WHERE region IN ('north', 'south') GROUP BY region"
        >>> print(session.preview(query, epsilon=1).parts[0].expected_error(persons=1000))
        count by region, in each of 2 groups of about 500 persons: 19 of 20 answers within ... % of the truth.
        """
        if self.noise_std is not None:
            words = f"19 of 20 answers within {show(_upwards(2 * self.noise_std))} of the truth, whatever the data are"
            return ExpectedError(f"{self.words}: {words}.", self.noise_std)
        if persons is None:
            return ExpectedError(f"{self.words}: say about how many persons there are, persons=10000, for a forecast.")
        from importlib import import_module  # forecasts stand above this package, and are loaded where one is wanted

        count = self.groups or GUESSED
        share = import_module("tacit.forecasts").expect(self.statistic, self.cost, persons, count, shape)
        if share is None:
            return ExpectedError(f"{self.words}: no forecast is made of it; the answer will say how far off it may be.")
        where = "" if count == 1 else f", in each of {count:,} groups of about {max(1, persons // count):,} persons"
        where += "" if self.groups else ", if so many are found"
        within = f"19 of 20 answers within {rough_percent(share)} of the truth"
        if share >= 1:
            within = "no useful answer is to be expected, the error is as large as the truth; give more ε"
        more = "; more where rows concern several persons, or a sample is asked" if self.several else ""
        return ExpectedError(f"{self.words}{where}: {within}{more}.", share=share)

    def forecast(self, persons: int, shape: str = "lognormal") -> Any:
        """The same at this ε and at those around it, as `tacit.plan` tells it; None where that is not forecast.

        Args:
            persons: about how many persons the data are about.
            shape: the shape of the made-up data: "equal", "uniform", "lognormal" or "pareto".

        >>> part = session.preview("SELECT SUM(amount) FROM orders", epsilon=1).parts[0]
        >>> [float(line.epsilon) for line in part.forecast(persons=1000).lines]
        [0.25, 0.5, 1.0, 2.0, 4.0]
        """
        from importlib import import_module  # as above

        count = self.groups or GUESSED
        return import_module("tacit.forecasts").foresee(self.statistic, self.cost, persons, count, shape, self.words)


def _upwards(number: float) -> float:
    """A number with two digits, not below it."""
    step = 10.0 ** (floor(log10(number)) - 1)
    return ceil(number / step) * step if number < 10 else float(ceil(number))


@dataclass(frozen=True, repr=False)
class Preview:
    """What a question would cost and answer; seeing it costs nothing, and it shows nothing about the data.

    >>> seen = session.preview("SELECT COUNT(DISTINCT customer) FROM orders", epsilon=0.5)
    >>> seen
    <Preview of number of persons: costs Pure(0.5) of the Pure(...) left. Nothing was spent.>
    >>> seen.statistics, seen.cost, seen.fits, seen.free
    (('number of persons',), Pure(0.5), True, False)
    """

    statistics: tuple[str, ...]
    """What would be answered, in words."""
    cost: Guarantee
    """What would be charged: nothing for what was answered before."""
    asked: Guarantee
    """The cost that was named, for all of it."""
    remaining: Guarantee
    """What is left of the budget now."""
    fits: bool
    """Whether what has to be paid is left."""
    free: bool
    """Whether nothing has to be paid, because all of it was answered before."""
    words: str
    """The preview in a sentence, which is also its ``str``."""
    forecast: str | None = None
    """The statistic that `tacit.plan` forecasts for it; None where it forecasts none."""
    noise_std: float | None = None
    """The standard deviation of the noise, where it does not depend on the data."""

    charges: tuple[tuple[Guarantee, Question], ...] = ()
    """What would be charged for it, one after the other."""
    parts: tuple[ForeseenPart, ...] = ()
    """What would be released, each with an error of its own."""

    def best_kind(self, total: Approx) -> Advice:
        """Which kind of budget within (ε, δ) could answer this most often.

        Args:
            total: the (ε, δ) that every kind is held to.

        >>> seen = session.preview("SELECT COUNT(DISTINCT customer) FROM orders", epsilon=0.1)
        >>> seen.best_kind(Approx(1, "1e-6")).rounds["Approx(1, 1e-06)"]
        10
        """
        return advise(total, self.charges)

    def expected_error(self, persons: int | None = None, shape: str = "lognormal") -> ExpectedError:
        """How far off the answer will lie, as far as public facts tell.

        Args:
            persons: about how many persons the data are about; with it the error is forecast on made-up data, as by
                `tacit.plan`.
            shape: the shape of the made-up data: "equal", "uniform", "lognormal" or "pareto".

        >>> seen = session.preview("SELECT COUNT(DISTINCT customer) FROM orders", epsilon=0.5)
        >>> print(seen.expected_error())
        The noise has a standard deviation of 2.79918, whatever the data are.
        >>> print(session.preview("SELECT SUM(amount) FROM orders", epsilon=0.5).expected_error())
        The error depends on the data; for a forecast, give the approximate number of persons: persons=10000.
        """
        if persons is not None and self.forecast is not None:
            import tacit  # forecasts stand above this package, so Tacit itself is asked, only where one is wanted

            assert isinstance(self.asked, Pure)
            forecast = tacit.plan(self.forecast, persons=persons, epsilon=self.asked.epsilon, shape=shape)
            return ExpectedError(f"{forecast.headline} {forecast.assumption}", self.noise_std, forecast.error)
        if self.noise_std is not None:
            words = f"The noise has a standard deviation of {show(self.noise_std)}, whatever the data are."
            return ExpectedError(words, noise_std=self.noise_std)
        if self.forecast is not None:
            return ExpectedError(
                "The error depends on the data; for a forecast, give the approximate number of persons: persons=10000."
            )
        if self.parts:
            found = [part.expected_error(persons, shape) for part in self.parts]
            shares = [each.share for each in found if each.share is not None]
            return ExpectedError(" ".join(map(str, found)), share=max(shares, default=None))
        return ExpectedError("The error depends on the data, and no forecast is made for this question at this cost.")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON.

        >>> session.preview("SELECT COUNT(*) FROM orders", epsilon=0.5).to_dict()["cost"]
        'Pure(0.5)'
        """
        return {
            "statistics": list(self.statistics),
            "cost": repr(self.cost),
            "asked": repr(self.asked),
            "remaining": repr(self.remaining),
            "fits": self.fits,
            "free": self.free,
            "forecast": self.forecast,
            "noise_std": self.noise_std,
            "words": self.words,
        }

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        return f"<Preview of {self.words}>"

    def _repr_html_(self) -> str:
        rows = [
            ("would answer", ", ".join(self.statistics)),
            ("costs", "nothing: answered before" if self.free else repr(self.cost)),
            ("left", f"{self.remaining!r}{'' if self.fits else ', not enough'}"),
            ("expected error", str(self.expected_error())),
        ]
        cells = "".join(
            f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in rows
        )
        return f"<table>{cells}</table><p>Nothing was spent.</p>"


@dataclass(frozen=True, repr=False)
class ReportPreview:
    """What a report would cost, release by release; seeing it costs nothing, and it shows nothing about the data.

    >>> questions = {"rows": "SELECT COUNT(*) FROM orders", "money": "SELECT COUNT(*), SUM(amount) FROM orders"}
    >>> seen = session.report(questions, epsilon=1, preview=True)
    >>> [(release.statistics, release.cost) for release in seen.releases]
    [(('number of rows',), Pure(0.5)), (('sum of amount',), Pure(0.5))]
    >>> seen.cost, seen.fits, seen.free
    (Pure(1), True, False)
    """

    questions: tuple[str, ...]
    """The names of the questions."""
    releases: tuple[Preview, ...]
    """What is released, each once whichever questions need it; each forecasts its own error."""
    cost: Guarantee
    """What would be charged: nothing for what was answered before."""
    asked: Guarantee
    """The cost that was named, for all of it."""
    remaining: Guarantee
    """What is left of the budget now."""
    fits: bool
    """Whether what has to be paid is left; if not, nothing would be answered."""
    free: bool
    """Whether nothing has to be paid."""

    def best_kind(self, total: Approx) -> Advice:
        """Which kind of budget within (ε, δ) could answer this report most often.

        Args:
            total: the (ε, δ) that every kind is held to.

        >>> questions = {"rows": "SELECT COUNT(*) FROM orders", "money": "SELECT MEDIAN(amount) FROM orders"}
        >>> print(session.report(questions, epsilon="0.2", preview=True).best_kind(Approx(1, "1e-6")))
        Within Approx(1, 1e-06) these questions fit 5 times into Approx(1, 1e-06), ...
        """
        return advise(total, [charge for release in self.releases for charge in release.charges])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON.

        >>> session.report(["SELECT COUNT(*) FROM orders"], epsilon=1, preview=True).to_dict()["cost"]
        'Pure(1)'
        """
        return {
            "questions": list(self.questions),
            "releases": [release.to_dict() for release in self.releases],
            "cost": repr(self.cost),
            "asked": repr(self.asked),
            "remaining": repr(self.remaining),
            "fits": self.fits,
            "free": self.free,
            "words": str(self),
        }

    def __str__(self) -> str:
        """A line for each release, then the whole."""
        lines = [f"{release.words}. {release.expected_error()}" for release in self.releases]
        left = f" of the {self.remaining!r} left" if self.fits else f", but only {self.remaining!r} is left"
        paid = "is free" if self.free else f"costs {self.cost!r}{left}"
        return "\n".join([*lines, f"The report {paid}. Nothing was spent."])

    def __repr__(self) -> str:
        return f"<ReportPreview of {', '.join(self.questions)}: {self.cost!r}>"
