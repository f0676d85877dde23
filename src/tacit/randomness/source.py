"""Where random bits come from.

`SYSTEM` asks the operating system for every draw and keeps no buffer, so that a forked process never repeats its
parent's noise. `seeded_not_private` exists for tests and documentation: whoever knows the seed knows the noise, so
what is drawn from it carries no privacy at all and is marked.
"""

import os
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from tacit.numbers.exact import whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Randomness(Protocol):
    """A stream of independent fair bits."""

    private: bool
    """Whether nobody can predict the bits."""

    def bits(self, count: int) -> int:
        """A uniform integer in [0, 2^count)."""
        ...

    def words(self, count: int) -> "NDArray[np.uint64]":
        """An array of ``count`` uniform 64-bit words."""
        ...

    def mark(self, value: Any) -> Any:
        """The value as it leaves the library: unchanged, or marked as not private."""
        ...


class _System:
    """The operating system's randomness."""

    private = True

    def bits(self, count: int) -> int:
        return int.from_bytes(os.urandom((count + 7) >> 3)) >> (-count & 7)

    def words(self, count: int) -> "NDArray[np.uint64]":
        import numpy as np

        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def mark(self, value: Any) -> Any:
        return value

    def __repr__(self) -> str:
        return "SYSTEM"


SYSTEM: Randomness = _System()


class NotPrivateInt(int):
    """An integer drawn from a seeded source: it behaves as an int and says that it protects nobody."""

    private = False

    def __repr__(self) -> str:
        return f"NotPrivate({int(self)})"


class NotPrivateFraction(Fraction):
    """A fraction drawn from a seeded source: it behaves as a Fraction and says that it protects nobody."""

    __slots__ = ()
    private = False

    def __repr__(self) -> str:
        return f"NotPrivate({Fraction(self)!r})"


class NotPrivateList(list[Any]):
    """A list drawn from a seeded source: it behaves as a list and says that it protects nobody."""

    private = False

    def __repr__(self) -> str:
        return f"NotPrivate({list(self)!r})"


@dataclass(frozen=True)
class NotPrivate:
    """A value drawn from a seeded source; `value` is the bare value, which protects nobody."""

    value: Any
    private = False

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return f"NotPrivate({self.value!r})"


class _Seeded:
    private = False

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._seed = seed

    def bits(self, count: int) -> int:
        return self._random.getrandbits(count) if count else 0

    def words(self, count: int) -> "NDArray[np.uint64]":
        import numpy as np

        return np.frombuffer(self._random.randbytes(8 * count), dtype=np.uint64)

    def mark(self, value: Any) -> Any:
        """Marked, as the kind of value it is, so that code that computes with a draw runs alike on both sources."""
        if value is None or getattr(value, "private", None) is False:
            return value
        if isinstance(value, bool):
            return NotPrivate(value)
        if isinstance(value, int):
            return NotPrivateInt(value)
        if isinstance(value, Fraction):
            return NotPrivateFraction(value)
        if isinstance(value, list):
            return NotPrivateList(value)
        if hasattr(value, "__array_ufunc__"):
            from tacit.randomness.arrays import NotPrivateArray

            return value.view(NotPrivateArray)
        return NotPrivate(value)

    def __repr__(self) -> str:
        return f"seeded_not_private({self._seed})"


def seeded_not_private(seed: int) -> Randomness:
    """A reproducible source for tests and documentation. NOT PRIVATE: the seed gives every noise away."""
    return _Seeded(whole(seed, "seed"))
