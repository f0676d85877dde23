"""Reports: the answers to several questions that were planned and paid for together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tacit.answers.certificates import Release, certificate_of, together
from tacit.answers.results import Result
from tacit.answers.several import told
from tacit.errors import Face

if TYPE_CHECKING:
    from tacit.guarantees import Guarantee


class Report(Mapping[str, Result]):
    """The results of several questions by their names, for one guarantee.

    Args:
        results: the results by the names of their questions.
        guarantee: what all of them together cost.

    >>> questions = ["SELECT COUNT(*) FROM orders", "SELECT AVG(amount), SUM(amount) FROM orders"]
    >>> report = session.report(questions, epsilon=1)
    >>> list(report), report.guarantee
    (['1', '2'], Pure(1))
    """

    def __init__(self, results: Mapping[str, Result], guarantee: Guarantee) -> None:
        self._results = dict(results)
        self.guarantee = guarantee

    def __getitem__(self, name: str) -> Result:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def stored(self) -> bool:
        """Whether all of it was answered before and cost nothing."""
        return all(result.stored for result in self.values())

    @property
    def releases(self) -> tuple[Release, ...]:
        """What was charged and drawn for all of it."""
        return together(result.releases for result in self.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON.

        >>> session.report({"rows": "SELECT COUNT(*) FROM orders"}, epsilon=1).to_dict()["guarantee"]
        'Pure(1)'
        """
        return {
            "guarantee": repr(self.guarantee),
            "results": {name: result.to_dict() for name, result in self.items()},
        }

    def certificate(self) -> dict[str, Any]:
        """What was drawn for all of it, as plain values; see `Answer.certificate`.

        >>> len(session.report(["SELECT COUNT(*), SUM(amount) FROM orders"], epsilon=1).certificate()["releases"])
        2
        """
        return certificate_of(self.releases)

    def __str__(self) -> str:
        """The results one below the other, then what all of them cost."""
        return self.told("python")

    def told(self, face: Face) -> str:
        """The same in the words of a face.

        Args:
            face: where it was asked: "python", "command line", "json" or "page".

        >>> print(session.report({"rows": "SELECT COUNT(*) FROM orders"}, epsilon=1).told("command line"))
        rows
        ...
        The whole report: Pure(1).
        """
        shown = [f"{name}\n{told(result, face)}" for name, result in self.items()]
        return "\n\n".join([*shown, f"The whole report: {self.guarantee!r}."])

    def __repr__(self) -> str:
        return f"<Report of {', '.join(self)}: {self.guarantee!r}>"
