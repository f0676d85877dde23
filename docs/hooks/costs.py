"""What each statistic uses for ε, for ε with δ, and for ρ: ``python docs/hooks/costs.py`` writes the page anew.

Every statistic of the catalogue is asked on a small table, and the page names the laws that it drew from.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tacit import Approx, Private, Pure, Session, Zcdp
from tacit.audit.statistics import captured
from tacit.errors import TacitError
from tacit.guarantees import Guarantee
from tacit.mechanisms.law import Law
from tacit.mechanisms.together import Together
from tacit.noises import IntegerNoise
from tacit.randomness import seeded_not_private
from tacit.tables.releasing.releaser import protected_persons
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Audited
from tacit.tables.statistics.catalogue import entries

PAGE = Path(__file__).parents[1] / "reference" / "costs.md"

COSTS: dict[str, Guarantee] = {"ε": Pure(1), "ε with δ": Approx(1, "1e-6"), "ρ": Zcdp("0.1")}

OPENING = """# What ε, δ and ρ buy

A cost is named as `epsilon=`, as `epsilon=, delta=` or as `rho=`. Each statistic turns it into steps, and each step is
paid by its own curve. This page is made from the code: every statistic was asked, and what it drew from is listed.

- **ε** buys pure steps: Laplace and lopsided noise, scans, choices. What can be charged together is.
- **ρ** buys Gaussian noise of variance s²/(2ρ). A choice of bounded range (the exponential mechanism, cuts) costs ε²/8,
  so ρ buys one of ε = √(8ρ). Searches look with Gaussian noise. What is pure and nothing else costs ε·tanh(ε/2).
- **ε with δ** is spent as ε, for a pure answer is within (ε, δ), or as the ρ that stays within it, whichever is better
  for the number of noises or choices: public facts, so a δ never makes an answer worse. At (1, 10^-6) the k most
  frequent values are chosen for ρ from k = 8 on. Counts and sums of 24 groups or more, and means of 12 or more, ask the
  data whether persons are in so many groups that Gaussian noise is smaller, where the chosen cap allows it: that takes
  a twenty-eighth of ε, so other noise is a twenty-fifth larger at most. Finding groups needs δ.
- **Cap and value together**: with ε, totals pay for both at once, which is less than what both cost apart. With ρ there
  is next to nothing to save: a person moves the choice and the value on the same outcomes, and the exact curve of both
  together is 0.96 to 0.97 of the sum of their curves. So they are paid one after the other, a quarter of ρ for the cap.
- **Under a `Zcdp` budget** a pure cost is charged ε·tanh(ε/2), about ε²/2; where all draws have a bounded range, it is
  charged by their curve. The last column is what a question at ε = 1 is charged.

```python
import tacit
from tacit import Zcdp
from tacit.data import WAGES

wages = tacit.read(WAGES, person="woman", budget=Zcdp(1))
wages.median("wage", per="person", epsilon=1, interval=False)
assert wages.budget.spent == Zcdp("0.125")  # and not 0.462
```

"""


class _Keeping(Room):
    """A room that keeps the names of what it drew from."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.names: list[str] = []  # shared with the rooms beside this one

    def draw(self, law: Law[Any], part: str = "") -> Any:
        """As any room."""
        self.names.append(_name(law))
        return super().draw(law, part)


def _name(law: Law[Any]) -> str:
    """A law in words: noise by its kind, draws of groups by what each is."""
    noise, parts = getattr(law, "noise", None), law._parts if isinstance(law, Together) else []
    if isinstance(noise, IntegerNoise) and law.name in (noise.name, "noise vector"):
        return f"{noise.name} noise{' on each' if parts else ''}"
    name = str(parts[0].name if parts else law.name).replace("_", " ").partition(",")[0]
    return f"{name} in each group" if len(parts) > 1 else name


def _session(budget: Guarantee) -> Session:
    """Four hundred persons with the columns that audited questions ask for."""
    import pyarrow as pa

    persons = range(400)
    columns = {
        "person": list(persons),
        "value": [i * 37 % 101 for i in persons],
        "group": ["xy"[i % 2] for i in persons],
        "flag": [i % 3 == 0 for i in persons],
    }
    return Session({"t": Private(pa.table(columns), person="person")}, budget)


@cache
def _charged() -> Session:
    """Where it is seen what is charged."""
    return _session(Zcdp(10**6))


@cache
def _asked() -> Session:
    """Where it is seen what is drawn; nothing is charged."""
    return _session(Pure(1))


def _captured(question: Audited, cost: Guarantee) -> Any:
    """The relation and the statistic that are asked at a cost; None where that is refused."""
    session = _asked()
    try:
        return captured(session, lambda: question.ask(session["t"], **cost.keywords()))[:2]
    except TacitError:
        return None


def used(question: Audited, cost: Guarantee) -> str:
    """What a statistic draws from at a cost; a dash where it refuses the cost."""
    engine, found = _asked()._tables.engine, _captured(question, cost)
    if found is None:
        return "–"
    relation, statistic = found
    with engine.snapshot() as snapshot:
        room = _Keeping(engine, snapshot, relation, seeded_not_private(1), cost, protected_persons(relation))
        statistic.release(room)
    return "; ".join(dict.fromkeys(room.names))


def charged(question: Audited) -> str:
    """What ρ a question at ε = 1 is charged."""
    if _captured(question, Pure(1)) is None:
        return "–"
    session = _charged()
    before: Any = session.budget.spent
    question.ask(session["t"], epsilon=1)
    after: Any = session.budget.spent
    return f"{float(after.rho - before.rho):.3g}"


@cache
def page() -> str:
    """The page."""
    rows = [
        f"| {question.name} | {' | '.join(used(question, cost) for cost in COSTS.values())} | {charged(question)} |"
        for entry in entries()
        for question in entry.audited
        if not question.network and "Gaussian" not in question.name
    ]
    head = f"| statistic | {' | '.join(COSTS)} | charged of ρ |"
    return f"{OPENING}{head}\n|{'---|' * 5}\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
