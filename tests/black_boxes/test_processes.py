"""Functions that misbehave: each bad call is the grid's bottom, and the next call is none the worse."""

import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import nan
from threading import Lock
from typing import Any

import pytest

from tacit.black_boxes import processes
from tacit.black_boxes.evaluator import EvaluatorSetup
from tacit.black_boxes.processes import Worker, Workers, blob, pickle_function
from tacit.errors import InvalidInput
from tacit.grids import integers
from tests.black_boxes import functions
from tests.black_boxes.support import CONFINED, isolated

GOOD, BAD = [1, 2], [1, 13]


def blobs(records: list[Any]) -> list[bytes]:
    return [pickle.dumps(record) for record in records]


def setup(function: Any, seconds: float = 60, trusted: bool = not CONFINED) -> EvaluatorSetup:
    return EvaluatorSetup(pickle_function(function), (integers(0, 9),), False, None, seconds, 2**30, trusted)


@contextmanager
def worker(function: Any, seconds: float = 60, trusted: bool = not CONFINED) -> Iterator[Worker]:
    found = Worker(setup(function, seconds, trusted))
    try:
        yield found
    finally:
        found.close()


TRUSTED = (functions.raises, functions.kills_its_parent, functions.forks)
"""What is tried with calls that are not confined too."""


@pytest.mark.parametrize(
    ("function", "seconds"),
    [
        (functions.raises, 60),
        (functions.sleeps, 6),
        (functions.stubborn, 6),
        (functions.leaves, 60),
        (functions.crashes, 60),
        (functions.kills_its_parent, 6),
        (functions.forks, 6),
        (functions.hungry, 60),
        (functions.quits, 60),
        (partial(functions.returns, nan), 60),
        (partial(functions.returns, "four"), 60),
        (partial(functions.returns, 10), 60),
        (partial(functions.returns, lambda: 0), 60),
    ],
)
def test_a_bad_call_is_the_bottom(function: Callable[..., Any], seconds: float) -> None:
    for trusted in {not CONFINED, not CONFINED or function in TRUSTED}:
        with worker(function, seconds, trusted) as found:
            assert [found.alone(blobs(records)) for records in (GOOD, BAD, GOOD)] == [[3], [0], [3]]


@pytest.mark.parametrize("function", [functions.raises, functions.sleeps, functions.leaves, functions.stubborn])
def test_a_bad_call_among_others(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Made together they may break the evaluator; that is noticed, and calls made alone tell which one it was."""
    monkeypatch.setattr(processes, "GRACE", 1)
    with worker(function, 4, trusted=True) as found:
        found.load(blobs([1, 2, 13]))
        for missing, start, expected in ((1, 2, [3]), (1, 0, [0]), (3, 0, [3])):
            answered = found.together(missing, start, start + 1)
            assert list(answered or found.alone(blobs([2, 13]))) == expected


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with worker(functions.prints, trusted=True) as found:
        assert found.alone(blobs(GOOD)) == [3]
        found.load(blobs(GOOD))
        assert list(found.together(0, 0, 1) or []) == [3]
    assert capfd.readouterr() == ("", "")


def test_records_are_copies() -> None:
    with worker(functions.mutates, trusted=True) as found:
        assert found.alone(blobs([[1], [2]])) == found.alone(blobs([[1], [2]])) == [3]
        found.load(blobs([[1], [2]]))
        assert [list(found.together(0, 0, 1) or []) for _ in range(2)] == [[3], [3]]


def test_a_call_alone_knows_nothing_of_the_others() -> None:
    with worker(functions.remembers) as found:
        assert [found.alone(blobs(records)) for records in (BAD, GOOD)] == [[9], [3]]
    with worker(functions.snoops) as found:
        assert [found.alone(blobs([x])) for x in (1, 13_000_013, 1)] == [[3], [9], [3]]


def test_what_a_function_started_is_ended() -> None:
    with worker(functions.forks, 2, trusted=True) as found:
        found.alone(blobs(BAD))
        parent = found._process.pid
        left = os.popen(f"ps -o pid= --ppid {parent}").read().split()
    assert not left
    assert found._process.returncode is not None


def test_a_killed_evaluator_is_replaced() -> None:
    with worker(functions.mean) as found:
        os.kill(found._process.pid, signal.SIGKILL)
        found._process.wait(200)
        assert found.alone(blobs([3])) == [3]


@isolated
def test_a_confined_evaluator_keeps_no_records() -> None:
    """It is never told everybody's: calls made together are for functions that are trusted."""
    with worker(functions.mean, trusted=False) as found:
        found._control.sendall(b"l")
        assert found._control.recv(1) == b""  # it left
        assert found.alone(blobs([3])) == [3]  # and another came


@isolated
def test_a_call_may_have_threads() -> None:
    with worker(functions.threaded, trusted=False) as found:
        assert [found.alone(blobs([1] * 5)), found.alone(blobs([1] * 9))] == [[5], [9]]


@isolated
def test_an_ended_worker_leaves_no_process() -> None:
    with worker(functions.mean, trusted=False) as found:
        inside = os.popen(f"ps -o pid= --ppid {found._process.pid}").read().split()
        assert len(inside) == 1
        found._process.kill()
        found._process.wait()
        for _ in range(2000):
            if not os.path.exists(f"/proc/{inside[0]}"):
                break
            time.sleep(0.1)
        assert not os.path.exists(f"/proc/{inside[0]}")


def test_an_incremental_function_is_moved_from_group_to_group() -> None:
    with worker(functions.RunningMean(), trusted=True) as found:
        found.load(blobs([1, 4, 7]))
        assert list(found.together(1, 0, 3) or []) == [5, 4, 2]  # 5.5 and 2.5 become the lower of two
        assert list(found.together(3, 0, 1) or []) == [0]  # of nobody there is none
        assert list(found.together(0, 0, 1) or []) == [4]
        assert found.alone(blobs([1, 4])) == [2]


def test_what_cannot_be_sent_is_refused() -> None:
    lock = Lock()
    for wrong in (lambda records: lock, 5):
        with pytest.raises(InvalidInput):
            pickle_function(wrong)
    assert pickle.loads(blob(lock)) is None
    with pytest.raises(InvalidInput):
        Worker(EvaluatorSetup(b"nonsense", (integers(0, 9),), False, None, 1.0, 2**30, not CONFINED))


def test_an_interrupt_ends_all_evaluators_at_once() -> None:
    started, main, running = time.monotonic(), os.getpid(), list[Any]()

    def work(found: Worker, task: int) -> None:
        running.append(found._process)
        if task == 1:
            os.kill(main, signal.SIGINT)
        found.alone(blobs(BAD))

    def interrupted() -> None:
        with Workers(setup(functions.sleeps), 2) as crew:
            crew.over(range(2), work)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - started < 55  # a call takes a minute
    assert len(running) == 2
    assert all(process.poll() is not None for process in running)
