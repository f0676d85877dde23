"""Everything that was released: answers, what is known about their error, and how they are stored and sent."""

from tacit.answers.answer import Answer, Interval
from tacit.answers.several import Answers

__all__ = ["Answer", "Answers", "Interval"]
