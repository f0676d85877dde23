"""Functions of your own: say what is known about one, and it is answered by the best mechanism for that.

A function takes a list with one record for each person and returns a number. What may be known about it:

- `monotone`: one more person never lowers it. Answered by the shifted inverse; Tacit does not have to believe it.
- `local`: how far one person moves it where the data are within k persons of these. Smooth sensitivity, or
  propose-test-release.
- `bounded`: a private measurement from which a bound on the local sensitivity follows.
- `inverse`: how many persons must change until it is y, or a small public universe of records in which Tacit finds out.
- `sampled`: nothing; it is run on blocks of many persons. `tacit.wrap` runs it on the subsets of few.

Each of these returns a function with two methods. `ask` answers it about the persons of a table or of a list, charged
first, with an answer that says how far it may be off and what it cost. `law` is its exact law on records, for those who
hold them. `several` answers some together, and `monotonise` makes any function monotone.

WHAT THE PROMISE RESTS ON  Each function says which of its claims the privacy of its answers rests on (`rests_on`), and
`tacit.audit.check` looks for a counterexample on all small datasets. A claim that concerns accuracy alone cannot hurt
anybody. The function itself, and what it is given, run in this process with your rights: they are trusted to look at
nothing but their records, and to fail on no data. What a failure is taken for is said with each.
"""

from tacit.functions.bounded import bounded
from tacit.functions.function import OwnFunction
from tacit.functions.inverse import inverse
from tacit.functions.local import local
from tacit.functions.monotone import monotone, monotonise
from tacit.functions.sampled import sampled
from tacit.functions.several import several

__all__ = ["OwnFunction", "bounded", "inverse", "local", "monotone", "monotonise", "sampled", "several"]
