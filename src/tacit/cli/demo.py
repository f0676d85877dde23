"""`tacit demo`: questions about real wages, with no bound given anywhere."""

from __future__ import annotations

import tacit
from tacit import Private, Public, Pure
from tacit.data import INDUSTRIES, WAGES

QUESTIONS = [
    ("How many women were interviewed?", "SELECT COUNT(DISTINCT woman) FROM wages", "0.1", None),
    ("How many interviews were there?", "SELECT COUNT(*) FROM wages", "0.2", None),
    ("What would all of them earn in one week?", "SELECT SUM(wage * hours) FROM wages", "0.5", None),
    ("What is the mean hourly wage?", "SELECT AVG(wage) FROM wages", "0.3", None),
    ("And the median?", "SELECT MEDIAN(wage) FROM wages", "0.3", None),
    ("What is the highest wage?", "SELECT MAX(wage) FROM wages", "0.3", None),
    (
        "How many interviews in each of three industries?",
        "SELECT name, COUNT(*) FROM wages JOIN industries ON industry = code "
        "WHERE name IN ('Manufacturing', 'Trade', 'Finance') GROUP BY name",
        "0.3",
        None,
    ),
]


def tour() -> None:
    """Ask the questions and show the answers and the budget."""
    session = tacit.Session(
        {"wages": Private(WAGES, person="woman"), "industries": Public(INDUSTRIES)},
        budget=Pure(2),
    )
    print("Real data: interviews of young women about their work, 1968 to 1988. A woman has several rows.")
    print("Protected: any one woman with all her rows. No clipping bound is given anywhere.\n")
    for words, query, epsilon, _ in QUESTIONS:
        print(f"{words}\n  {query}")
        for line in str(session.sql(query, epsilon=epsilon)).splitlines():
            print(f"  {line}")
        print(f"  left: {session.budget.remaining!r}\n")
