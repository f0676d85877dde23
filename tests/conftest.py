"""Settings of all tests: a busy machine must not fail a property for being slow, and every test starts with the same
precision of the ball arithmetic it is compared with, whatever the test before it asked for. Tests that press Ctrl-C do
so also where the shell has told a run in the background to ignore it.
"""

import gc
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any, ClassVar

import flint
import pytest
from hypothesis import settings

from tests.postgres import server as server  # fixtures for whoever asks for them
from tests.spark import spark as spark

settings.register_profile("tacit", deadline=None, max_examples=60)
settings.load_profile("tacit")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONG = 900
"""Seconds for a test that starts Spark or runs a page of the documentation; others have what pyproject.toml says."""


LONGEST = (
    "test_connect",
    "test_executors_that_are_killed",
    "test_the_site_is_built",
    "test_workers_that_are_killed",
    "test_docs.py",
)
"""Parts of the names of tests that take long. They start first: none is left for the end, when others have ended."""
SHARED = {"spark": "spark", "test_browser": "browser", "postgres": "postgres"}
"""Parts of the names of tests that share what takes long to start, and what it is. One process runs all of them."""
ALONE = LONGEST[:2]
"""Tests that start a Spark of their own."""
AGAIN = (
    *(
        "test_browser",
        "serve/test_load",
        "serve/test_crashes",
        "attacks/test_times",
        "serve/test_cancelling",
        "serve/test_command",
        "test_gateway_stays_up",
    ),
    *("test_connect", "killed", "ends_the_session", "ctrl_c", "time_limit", "within_a_second", "test_race"),
)
"""Parts of the names of tests that race with another process or with a clock. A machine that stands still for a minute
fails them for nothing: such a test is tried again, twice at most, and the last line says how many were."""
TOGETHER = 24
"""Tests of a file that one process runs at most, one after the other: what they share is made once for them."""
COMPILED = Path(__file__).parent / "__pycache__" / "compiled"
"""Stands beside what Python has compiled, once that is all."""


def group_of(name: str) -> str | None:
    """What the tests of one process share; nothing for a test that stands alone."""
    shared = (group for part, group in SHARED.items() if part in name)
    return None if any(part in name for part in ALONE) else next(shared, None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests that take long by their nature a longer limit, unless they name one, and put the longest first.

    Spark's tests come before all: they wait for each other.
    """
    ranks = dict[str, int]()
    for item in items:
        long = "spark" in item.nodeid or item.path.name == "test_docs.py"
        if long and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LONG))
        if any(name in item.nodeid for name in AGAIN):
            item.add_marker(pytest.mark.flaky(reruns=2))
        group = group_of(item.nodeid)
        longest = any(name in item.nodeid for name in LONGEST)
        ranks[item.nodeid] = 0 if group == "spark" else 1 if longest else 2 if group else 3
    items.sort(key=lambda item: ranks[item.nodeid])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than there are cores: tests that wait for another process leave theirs idle.

    More of them would find all tests once more, each for itself.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return 2 + (cores or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    """In a new checkout the first process compiles the tests and the others wait for it: each would compile all."""
    process = getattr(session.config, "workerinput", {}).get("workerid")  # None of the one that has the others
    end = time.monotonic() + (0 if sys.dont_write_bytecode else 600)
    while process not in ("gw0", None) and not COMPILED.exists() and time.monotonic() < end:
        time.sleep(0.1)
    found = yield
    if process == "gw0" and not sys.dont_write_bytecode:
        COMPILED.touch()
    gc.freeze()  # 400,000 objects that stay: to look through them for garbage again and again took a tenth of the time
    gc.set_threshold(20_000, 20, 20)
    return found


def pytest_unconfigure() -> None:
    """What was kept aside ends as it would have."""
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One process starts what takes long for all tests that need it; others run the tests of a file in bundles.

    Groups by mark would say so too, but those of xdist 3.8 do nothing under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # they stand in order

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        bundles: ClassVar[dict[str, str]] = {}

        def _split_scope(self, nodeid: str) -> str:
            if not self.bundles:
                files = Counter[str]()
                for name in self.collection:
                    file = name.split("::")[0]
                    alone = any(part in name for part in LONGEST)
                    self.bundles[name] = group_of(name) or (name if alone else f"{file} {files[file] // TOGETHER}")
                    files[file] += 1
            return self.bundles[nodeid]

        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            """A bundle that is done is not counted again with every test to come."""
            super().mark_test_complete(node, item_index, duration)
            units, scope = self.assigned_work[node], self._split_scope(self.collection[item_index])
            if all(units[scope].values()):
                del units[scope]

        def remove_node(self, node: Any) -> Any:
            """A test that ended its process has failed; xdist would give it to one process after the other."""
            units = self.assigned_work[node]
            ended = next((name for unit in units.values() for name, done in unit.items() if not done), None)
            for scope, unit in list(units.items()):
                unit.update({ended: True} if ended in unit else {})
                if all(unit.values()):
                    del units[scope]  # nothing in it is left to be done
            super().remove_node(node)
            return ended

    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def precision() -> None:
    """Enough bits for every oracle."""
    flint.ctx.prec = 1000
