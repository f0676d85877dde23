"""What a check found, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tacit.answers.values import counted


@dataclass(frozen=True)
class Finding:
    """One thing to look at; a serious one breaks what the promise rests on."""

    table: str
    check: str
    """Which check found it, in a word or two."""
    text: str
    """A sentence with numbers and names, and no value of any row."""
    column: str = ""
    count: int = 0
    serious: bool = False


@dataclass(frozen=True)
class Report:
    """All that was found about some tables, and what could not be checked."""

    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For each table its rows, persons and files."""
    findings: tuple[Finding, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def serious(self) -> tuple[Finding, ...]:
        """The findings that break what the promise rests on."""
        return tuple(finding for finding in self.findings if finding.serious)

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "tables": {name: dict(facts) for name, facts in self.facts.items()},
            "findings": [asdict(finding) for finding in self.findings],
            "unchecked": list(self.unchecked),
        }

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Report:
        """A report from what `to_dict` gave."""
        findings = tuple(Finding(**finding) for finding in found["findings"])
        return cls(found["tables"], findings, tuple(found["unchecked"]))

    @classmethod
    def together(cls, reports: Mapping[str, Report]) -> Report:
        """The reports of several datasets, the dataset's name before the table's."""
        facts = {f"{name}.{table}": known for name, report in reports.items() for table, known in report.facts.items()}
        findings = [
            Finding(**{**asdict(finding), "table": f"{name}.{finding.table}"})
            for name, report in reports.items()
            for finding in report.findings
        ]
        unchecked = [f"{name}.{text}" for name, report in reports.items() for text in report.unchecked]
        return cls(facts, tuple(findings), tuple(unchecked))

    def __str__(self) -> str:
        lines = [f"{name}: {describe(facts)}" for name, facts in self.facts.items()]
        ordered = sorted(self.findings, key=lambda finding: not finding.serious)
        lines += [f"{'SERIOUS' if f.serious else 'look at'}  {f.table}: {f.text}" for f in ordered]
        lines += [f"not checked  {text}" for text in self.unchecked]
        return "\n".join([*lines, _verdict(self)])


def describe(facts: Mapping[str, Any]) -> str:
    """A table's facts in a line."""
    pieces = [f"{facts['rows']:,} rows"] if "rows" in facts else []
    for kind, found in facts.get("persons", {}).items():
        median, largest = found["median_rows"], found["largest_rows"]
        pieces.append(f"{found['persons']:,} persons by {kind} (rows each: median {median:,}, largest {largest:,})")
    for file in facts.get("files", ()):
        pieces.append(f"{file['file']} ({file['encoding']}, {file['lines']:,} lines)")
    return ", ".join(pieces) or "no facts"


def _verdict(report: Report) -> str:
    if not report.findings:
        return "Nothing was found." if not report.unchecked else "Nothing was found in what could be checked."
    serious = len(report.serious)
    return f"{counted(len(report.findings), 'finding')}, {serious} of them serious."


def list_numbers(numbers: Iterable[int]) -> str:
    """Numbers in a list."""
    return ", ".join(f"{number}" for number in numbers)
