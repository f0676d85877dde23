"""Whether what was read as names of columns can be names.

Names are public. A file that is read in another encoding than its own can have all its rows in one name, so a name that
is too long to be one is refused before anybody is shown it, and never repeated.
"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.errors import InvalidInput

LONGEST = 200
"""Characters that a name may have; databases allow fewer than 130."""


def check_names(names: Iterable[str]) -> None:
    """Refuse names that may hold rows."""
    if any(len(name) > LONGEST for name in names):
        raise InvalidInput(
            f"a column has a name of over {LONGEST} characters, which may hold rows and is not shown; is the file "
            "read in the wrong encoding, or are the names of its columns missing?"
        )
