"""Functions as analysts bring them, good and bad; evaluators import them from here."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

SEEN: list[Any] = []


def mean(records: list[Any]) -> float:
    return float(sum(records) / len(records))


def trimmed_mean(records: list[float]) -> float:
    kept = sorted(records)[1:-1]
    return sum(kept) / len(kept)


def total(records: list[int]) -> int:
    return sum(records)


def slope(records: list[tuple[float, float]]) -> float:
    from sklearn.linear_model import LinearRegression  # type: ignore[import-untyped]

    fitted = LinearRegression().fit([[x] for x, _ in records], [y for _, y in records])
    return float(fitted.coef_[0])


def frame_mean(frame: Any) -> float:
    return float(frame["y"].mean())


def shape(frame: Any) -> list[float]:
    """What the function sees: rows, columns, and whether it is told who."""
    return [len(frame) % 2, len(frame.columns), "who" in frame.columns or "" in frame.columns]


def threaded(records: list[int]) -> int:
    found: list[int] = []
    threads = [threading.Thread(target=found.append, args=[record]) for record in records]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(found)


def mean_and_count(records: list[int]) -> list[float]:
    return [sum(records) / len(records), len(records)]


# What goes wrong where somebody of value 13 is inside: everything here must be the grid's bottom.


def raises(records: list[int]) -> int:
    if 13 in records:
        raise ValueError(f"the records are {records}")
    return 3


def sleeps(records: list[int]) -> int:
    while 13 in records:
        time.sleep(1)
    return 3


def stubborn(records: list[int]) -> int:
    while 13 in records:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:
            continue
    return 3


def leaves(records: list[int]) -> int:
    if 13 in records:
        os._exit(0)
    return 3


def crashes(records: list[int]) -> int:
    if 13 in records:
        ctypes.string_at(0)
    return 3


def kills_its_parent(records: list[int]) -> int:
    if 13 in records:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    return 3


def forks(records: list[int]) -> int:
    if 13 in records and os.fork() == 0:
        time.sleep(60)
    if 13 in records:
        time.sleep(60)
    return 3


def hungry(records: list[int]) -> int:
    if 13 in records:
        return len(bytearray(2**36))
    return 3


def quits(records: list[int]) -> int:
    if 13 in records:
        sys.exit("data: 13")
    return 3


def returns(value: Any, records: list[int]) -> Any:
    return value if 13 in records else 3


# What is harmless, or must be.


def prints(records: list[int]) -> int:
    print("the records are", records)
    print("the records are", records, file=sys.stderr)
    os.write(2, b"the records are out")
    return 3


def mutates(records: list[list[int]]) -> int:
    found = sum(record.pop() for record in records)
    records.clear()
    return found


def remembers(records: list[int]) -> int:
    """High for every group once it has seen 13."""
    SEEN.extend(records)
    return 9 if 13 in SEEN else 3


def snoops(records: list[int]) -> int:
    """High if the record 13 can be found anywhere in the process."""
    import gc

    found = any(isinstance(o, list) and any(type(v) is int and v == 13_000_013 for v in o) for o in gc.get_objects())
    frame: Any = sys._getframe()
    while frame is not None:
        found = found or any(isinstance(v, list) and 13_000_013 in v for v in frame.f_locals.values())
        frame = frame.f_back
    return 9 if found else 3


class RunningMean:
    """A mean that persons can be added to and removed from."""

    def __init__(self) -> None:
        self.sum, self.count = Fraction(0), 0

    def add(self, record: int) -> None:
        self.sum, self.count = self.sum + record, self.count + 1

    def remove(self, record: int) -> None:
        self.sum, self.count = self.sum - record, self.count - 1

    def value(self) -> Fraction:
        return self.sum / self.count


class DirectMean:
    """A mean that knows the profile of its g: the mean of the largest values that are left."""

    def __call__(self, records: list[float]) -> float:
        return mean(records)

    def evaluate_profile(self, records: list[float], floor: int) -> Iterator[float]:
        left = sorted(records)
        least = max(floor, 1)
        while len(left) >= least:
            yield mean(left[len(left) - least :])
            left.pop()
