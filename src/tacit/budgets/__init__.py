"""Budgets: filters, odometers, and what a session charges before it looks at data."""

from tacit.budgets.accounts import Link, Policy
from tacit.budgets.advice import Advice, advise
from tacit.budgets.books import FailuresUsedUp, Unsettled
from tacit.budgets.budget import ONE_PART, Budget, Parallel, open_budget
from tacit.budgets.calendars import Calendar
from tacit.budgets.filters import filter_for
from tacit.budgets.odometers import Odometer
from tacit.budgets.periods import Period, Periods
from tacit.budgets.questions import Message, Question, Receipt, Stored, Unanswered

__all__ = [
    "ONE_PART",
    "Advice",
    "Budget",
    "Calendar",
    "FailuresUsedUp",
    "Link",
    "Message",
    "Odometer",
    "Parallel",
    "Period",
    "Periods",
    "Policy",
    "Question",
    "Receipt",
    "Stored",
    "Unanswered",
    "Unsettled",
    "advise",
    "filter_for",
    "open_budget",
]
