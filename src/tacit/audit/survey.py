"""The survey behind `tacit audit`: every promise of the library, checked on this machine.

- every registered mechanism: its exact law over all small datasets, and a two-dataset audit of its sampler on a pair
  where that should show most; in full also its broken twins, which the same check must catch;
- every statistic of the public face: each of its draws verified exactly through the real engine; in full also sampled;
- the museum of broken mechanisms, each of which must be caught;
- a whole session of queries, audited in one run with canaries;
- a mechanism of two other libraries, where they are installed.

Bounds from samples hold at confidence 1 − 10^-7 each, so that a survey of some hundred lines cries wolf with
probability below 10^-4. Lines are independent of each other and run in several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from math import inf, log
from typing import TYPE_CHECKING, Any

from tacit.audit.exact import Dataset
from tacit.audit.museum import EXHIBITS, catch
from tacit.audit.questions import questions, small_tables, table_of
from tacit.audit.registry import AuditCase, cases
from tacit.audit.statistical import LIBRARIES, Audit, audit
from tacit.errors import InvalidInput, instead
from tacit.guarantees import Guarantee, Pure
from tacit.tables.statistics.asking import Audited

if TYPE_CHECKING:
    from tacit.tables import Table

SURE = 1 - Fraction(1, 10**7)
LOOSE_DELTA = Fraction(1, 100)
"""The δ at which a promise without one of its own, ρ or Rényi, is sampled."""
MISSING = "not installed"


@dataclass(frozen=True)
class SurveyLine:
    """One row of the survey."""

    kind: str
    name: str
    promised: str
    exact: str
    """What was measured exactly, or a dash."""
    sampled: str
    """What was measured from samples, or a dash."""
    verdict: str
    passed: bool
    note: str = ""

    @property
    def failed(self) -> bool:
        """Whether this speaks against Tacit: a check that did not pass, or a broken promise not another library's."""
        return not self.passed or (self.broken and self.kind != "library")

    @property
    def broken(self) -> bool:
        """Whether a promise is surely broken, of Tacit or of another library."""
        return self.verdict == "broken"


@dataclass(frozen=True)
class Job:
    """One line to be made; small enough to be sent to another process."""

    kind: str
    index: int
    full: bool


@cache
def _cases() -> tuple[AuditCase, ...]:
    return tuple(cases())


def _names() -> dict[str, list[str]]:
    """What there is to check, of each kind."""
    return {
        "mechanism": [case.name for case in _cases()],
        "statistic": [question.name for question in questions()],
        "museum": [exhibit.name for exhibit in EXHIBITS],
        "session": ["a session of queries, in one run"],
        "library": list(LIBRARIES),
    }


def jobs(wanted: str | None = None, full: bool = False) -> list[Job]:
    """What a survey consists of; ``wanted`` keeps only what carries that word, by its name or the function's."""
    word = _plain(wanted or "")
    found = []
    for kind, names in _names().items():
        for i, name in enumerate(names):
            searched = f"{name} {_cases()[i].covers}" if kind == "mechanism" else name
            slow = kind == "statistic" and questions()[i].slow
            if word in _plain(searched) and (full or not slow):
                found.append(Job(kind, i, full))
    if not found:
        near = instead(wanted or "", choices(), "names")
        raise InvalidInput(f"there is nothing to audit by that name; {near}")
    return found


def choices() -> list[str]:
    """The mechanisms, by their functions, and the statistics that can be asked for by name."""
    laws = sorted({case.covers.removeprefix("mechanisms.") for case in _cases()})
    asked = sorted({question.name.partition(",")[0].removeprefix("network: ") for question in questions()})
    return [*laws, *asked]


def _plain(name: str) -> str:
    return name.lower().replace("_", " ").replace("-", " ").strip()


def work(job: Job) -> SurveyLine:
    """Make one line; a check that cannot be finished has failed, and the others go on."""
    try:
        return _WORK[job.kind](job)
    except Exception as error:
        name = _names()[job.kind][job.index]
        return SurveyLine(job.kind, name, "–", "–", "–", "error", False, type(error).__name__)


def run(planned: Sequence[Job], processes: int = 1) -> Iterator[SurveyLine]:
    """The lines in order, as soon as they and all before them are made."""
    if processes < 2 or len(planned) < 2:
        yield from map(work, planned)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Fresh processes: a copy of one that already runs threads may hang.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, planned, chunksize=1)


def _not_run(kind: str, name: str, promised: Guarantee) -> SurveyLine:
    return SurveyLine(kind, name, repr(promised), "–", "–", "not run", True, f"pyarrow is {MISSING}")


def summary(lines: Sequence[SurveyLine]) -> str:
    """The survey in one sentence."""
    failed = [f"{line.name}{' (a promise of Tacit is broken)' * line.broken}" for line in lines if line.failed]
    caught = sum(line.verdict == "caught" for line in lines)
    absent = sum(line.verdict in (MISSING, "not run") for line in lines)
    elsewhere = [line.name for line in lines if line.broken and not line.failed]  # another library's promise
    kept = len(lines) - caught - absent - len(failed) - len(elsewhere)
    parts = [f"{kept} promises hold"] if kept != 1 else ["1 promise holds"]
    if caught:
        parts.append(f"{caught} known mistake{'s' * (caught > 1)} caught")
    if absent:
        parts.append(f"{absent} not run")
    if elsewhere:
        parts.append(f"broken outside of Tacit: {'; '.join(elsewhere)}")
    end = (
        f"{len(failed)} FAILED: {'; '.join(failed)}"
        if failed
        else "nothing of Tacit is broken"
        if elsewhere
        else "nothing broken"
    )
    return f"{', '.join(parts)}, {end}."


# ---- mechanisms -------------------------------------------------------------------------------------------------


def _mechanism(job: Job) -> SurveyLine:
    case = _cases()[job.index]
    found = case.verify()
    samples = 20_000 if job.full else 2_000
    first, second = _telling_pair(case, found.worst, samples)
    sampled = audit(
        case.law(first),
        case.law(second),
        samples=samples,
        delta=_delta(case.promised),
        confidence=SURE,
        promised=case.promised,
    )
    twins = [case.verify_twin(name).broken for name in case.twins] if job.full else []
    passed = found.holds and not found.broken and not sampled.broken and all(twins)
    note = f"{found.pairs} pairs"
    if job.full and case.twins:
        note += f"; {sum(twins)} of {len(twins)} broken twins caught"
    verdict = "broken" if sampled.broken else found.verdict
    if verdict != "broken" and not all(twins):
        verdict = "twin missed"
    return SurveyLine("mechanism", case.name, repr(case.promised), found.shown, sampled.shown, verdict, passed, note)


TRIED, LISTED = 10, 100
"""How many pairs are compared before one is sampled, and how many outputs their laws may have."""


def _telling_pair(case: AuditCase, worst: tuple[Dataset, Dataset] | None, samples: int) -> tuple[Dataset, Dataset]:
    """The pair on which the samples should show most; the worst ratio may belong to an output that hardly occurs.

    The choice uses exact laws only, no sample, so that it does not weaken the bound.
    """
    pairs = case.pairs(case.datasets)
    step = -(-len(pairs) // TRIED)
    candidates = [*([worst] if worst else []), *pairs[::-step]]
    points = list(islice(case.law(candidates[0][0]).outcomes(), LISTED + 1))
    if len(points) > LISTED:
        return candidates[0]
    involved = {x: case.law(x) for pair in candidates for x in pair}
    tables = {x: [float(law.pmf(y, 64)) for y in points] for x, law in involved.items()}
    return max(candidates, key=lambda pair: _expected(tables[pair[0]], tables[pair[1]], samples))


def _expected(p: Sequence[float], q: Sequence[float], samples: int) -> float:
    """About the bound that a histogram of these outputs would give: the best log odds less five standard deviations."""
    sides = sorted(((max(a, b), min(a, b)) for a, b in zip(p, q, strict=True)), key=lambda ab: ab[1] / (ab[0] or 1))
    best, right, wrong = 0.0, 0.0, 0.0
    for a, b in sides:
        right, wrong = right + a / 2, wrong + b / 2
        guesses = samples * (right + wrong)
        if guesses >= 1:
            share = right / (right + wrong)
            sure = share - 5 * (share * (1 - share) / guesses) ** 0.5 - 5 / guesses
            best = max(best, log(sure / (1 - sure)) if 0.5 < sure < 1 else 0.0)
    return best


def _delta(promised: Guarantee) -> Fraction:
    """The δ at which a promise is sampled."""
    bound = promised.ratio_bound()
    return LOOSE_DELTA if bound is None else bound[1]


# ---- statistics -------------------------------------------------------------------------------------------------


def _statistic(job: Job) -> SurveyLine:
    question = questions()[job.index]
    try:
        check = small_tables(question.network)
    except ImportError:
        return SurveyLine(
            "statistic", question.name, repr(question.cost), "–", "–", "not run", True, f"pyarrow is {MISSING}"
        )
    report = check.check(question)
    worst = max(report.stages, key=lambda stage: stage.verification.tightness).verification
    pair = worst.worst or (check.datasets[-1], check.datasets[-1][1:])
    sampled = _asked(question, pair) if job.full else None
    broken = report.broken or (sampled is not None and sampled.broken)
    passed = report.holds and not broken
    note = f"{len(report.stages)} laws of its draws, over {len(check.datasets)} tables"
    verdict = "broken" if broken else "undecided" if not passed else "tight" if report.tightness >= 0.99 else "loose"
    return SurveyLine(
        "statistic",
        question.name,
        repr(question.cost),
        f"{report.tightness:.3g} of its draws' shares",
        sampled.shown if sampled else "–",
        verdict,
        passed,
        note,
    )


def _asked(question: Audited, pair: tuple[Dataset, Dataset]) -> Audit | None:
    """The statistic asked again and again of two neighbouring tables; None where a budget does not allow that."""
    first, second = (table_of(x, question.cost, question.network) for x in pair)
    if first is None or second is None:
        return None
    delta = _delta(question.cost)
    sides = (partial(_number, question, first), partial(_number, question, second))
    return audit(*sides, samples=300, delta=delta, confidence=SURE, promised=question.cost)


def _number(question: Audited, table: Table) -> Any:
    """One fresh answer as a number or a name; the first, where there are several."""
    from tacit.answers import Answer

    answer = question(table, fresh=True)
    if not isinstance(answer, Answer):
        answer = next(iter(answer.values()), None)
    value = None if answer is None else answer.value
    if value is None:
        return -inf
    return float(value) if hasattr(value, "__float__") else value


# ---- the rest ---------------------------------------------------------------------------------------------------


def _museum(job: Job) -> SurveyLine:
    (found,) = catch([EXHIBITS[job.index]])
    shown = found.broken.shown
    exactly, sampled = (shown, "–") if found.broken.exhaustive else ("–", shown)
    verdict = "caught" if found.passed else "missed"
    note = f"{found.exhibit.story} Repaired: {found.repaired.loss:.6g}."
    name, promised = found.exhibit.name, repr(found.exhibit.promised)
    return SurveyLine("museum", name, promised, exactly, sampled, verdict, found.passed, note)


CANARIES, RESIDENTS = 400, 200
SESSION = Pure(4)


def _session(job: Job) -> SurveyLine:
    """Canaries with a group of their own each, in a session that asks for a total and for all groups' counts."""
    (name,) = _names()["session"]
    try:
        import pyarrow as pa
    except ImportError:
        return _not_run("session", name, SESSION)
    import tacit
    from tacit.audit.one_run import audit_run

    persons = range(RESIDENTS)
    rows = pa.table({"person": list(persons), "place": ["town"] * RESIDENTS, "amount": [i % 17 for i in persons]})
    places = [f"house {i}" for i in range(CANARIES)]

    def session(table: Any) -> dict[str, float]:
        private = tacit.read(table, person="person", budget=SESSION, table="people")
        private.sum("amount", epsilon=1)
        answers = private.group_by("place", keys=places).count(epsilon=3)
        return {key: float(answer) for key, answer in answers.items()}

    found = audit_run(
        rows,
        "person",
        [[{"place": place, "amount": 1}] for place in places],
        session,
        lambda released, i: released[places[i]],
        promised=SESSION,
        confidence=SURE,
    )
    best = found.best
    note = f"{best.correct} of {best.rule.guesses} guesses right among {CANARIES} canaries"
    sampled = f"ε ≥ {found.epsilon:.3f}"
    return SurveyLine("session", name, repr(SESSION), "–", sampled, found.verdict, not found.broken, note)


def _library(job: Job) -> SurveyLine:
    """Another library's mechanism: what is found is reported, and is no verdict on this library."""
    name, probe = list(LIBRARIES.items())[job.index]
    found = probe(20_000 if job.full else 2_000, SURE)
    if found is None:
        return SurveyLine("library", name, "Pure(1)", "–", "–", MISSING, True)
    return SurveyLine("library", name, "Pure(1)", "–", found.shown, found.verdict, True, f"by {found.feature}")


_WORK: dict[str, Callable[[Job], SurveyLine]] = {
    "mechanism": _mechanism,
    "statistic": _statistic,
    "museum": _museum,
    "session": _session,
    "library": _library,
}
