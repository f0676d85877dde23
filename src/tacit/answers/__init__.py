"""Everything that was released: answers, their intervals, and how far they may be off."""

from tacit.answers.answer import Answer, Answers, Interval

__all__ = ["Answer", "Answers", "Interval"]
