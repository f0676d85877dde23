"""A hostile function's calls pass nothing on: each way to leave a mark, to watch another call, or to reach data.

Before calls were confined, one that saw the victim made a directory, the others saw it, and the answer told of the
victim in 18 runs of 30, of 30 without the victim in none. The same function, called in the way of a trusted one, is the
planted fault: it must find its marks there, so that what is tried here is known to work where nothing stops it.
"""

import os
import pickle
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tacit.black_boxes.evaluation import layers
from tacit.black_boxes.evaluator import EvaluatorSetup
from tacit.black_boxes.lattice import Lattice
from tacit.black_boxes.processes import Worker, Workers, pickle_function
from tacit.grids import integers
from tests.attacks import black_box_functions as functions
from tests.black_boxes.support import isolated

GRID = integers(0, 9)
SURE = ("directory", "file", "memory shared by copies", "kept descriptor", "flags of standard output")
"""What works everywhere where nothing stops it."""


def worker(trusted: bool, function: Any = functions.gossip) -> Worker:
    return Worker(EvaluatorSetup(pickle_function(function), (GRID,), False, None, 20.0, 2**30, trusted))


def asked(found: Worker, *records: Any) -> int:
    return found.alone([pickle.dumps(record) for record in records])[0]


@contextmanager
def two(trusted: bool) -> Iterator[tuple[Worker, Worker]]:
    with ExitStack() as stack:
        found = worker(trusted), worker(trusted)
        for each in found:
            stack.callback(each.close)
        for path in (f"/tmp/{functions.NAME}", f"/dev/shm/{functions.NAME}"):
            stack.callback(shutil.rmtree, path, ignore_errors=True)
        stack.callback(Path(f"/tmp/{functions.NAME}.file").unlink, missing_ok=True)
        yield found


@pytest.fixture(scope="module")
def confined() -> Iterator[tuple[Worker, Worker]]:
    with two(trusted=False) as found:
        yield found


@pytest.fixture(scope="module")
def planted() -> Iterator[tuple[Worker, Worker]]:
    with two(trusted=True) as found:
        yield found


def meanwhile(first: Worker, second: Worker, way: str) -> int:
    """What a call answers while another keeps its mark."""
    marking = threading.Thread(target=asked, args=(first, way, 13))
    marking.start()
    time.sleep(0.7)  # until the mark is there, which is kept for longer than that
    seen = asked(second, way)
    marking.join(200)
    return seen


@isolated
@pytest.mark.parametrize("way", functions.WAYS)
def test_no_call_leaves_a_mark(confined: tuple[Worker, Worker], way: str) -> None:
    first, second = confined
    assert [asked(first, way), asked(first, way, 13), asked(first, way), asked(second, way)] == [3, 3, 3, 3]


@isolated
@pytest.mark.parametrize("way", functions.MEANWHILE)
def test_no_call_notices_another_at_work(confined: tuple[Worker, Worker], way: str) -> None:
    assert meanwhile(*confined, way) == 3


@isolated
@pytest.mark.parametrize("way", functions.REACH)
def test_out_of_reach(confined: tuple[Worker, Worker], way: str) -> None:
    assert asked(confined[0], way) == 3


@pytest.mark.parametrize("way", SURE)
def test_marks_are_found_where_nothing_stops_them(planted: tuple[Worker, Worker], way: str) -> None:
    first, _ = planted
    assert [asked(first, way), asked(first, way, 13), asked(first, way)] == [3, 3, 9]


@pytest.mark.parametrize("way", ["lock", "abstract socket", "loopback"])
def test_calls_at_work_are_noticed_where_nothing_stops_it(planted: tuple[Worker, Worker], way: str) -> None:
    assert any(meanwhile(*planted, way) == 9 for _ in range(20))  # a busy machine may miss the moment


@isolated
def test_a_directory_does_not_show_the_victim() -> None:
    """Every group without the victim has the value it has where there is no victim."""
    place = f"/tmp/{functions.NAME}-{os.getuid()}"
    people, lattice = [pickle.dumps(n) for n in (13, 1, 2, 3)], Lattice(4, 4)
    shutil.rmtree(place, ignore_errors=True)
    with Workers(
        EvaluatorSetup(pickle_function(functions.directory), (GRID,), False, None, 20.0, 2**30, False), 1
    ) as crew:
        found = layers(crew, people, lattice, False, lambda done: None)
    assert {int(value) for layer in found for value in layer} == {3}
    assert not os.path.exists(place)


@isolated
def test_the_function_is_not_loaded_where_calls_are_started() -> None:
    """What it does when it is loaded, such as taking over its process, is gone with the call."""
    found = worker(False, functions.Takeover())
    try:
        assert [asked(found, n) for n in (1, 13, 1)] == [3, 9, 3]
    finally:
        found.close()
