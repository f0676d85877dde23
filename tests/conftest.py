"""Settings of all tests: a busy machine must not fail a property for being slow, and every test starts with the same
precision of the ball arithmetic it is compared with, whatever the test before it asked for. Tests that press Ctrl-C do
so also where the shell has told a run in the background to ignore it.
"""

import signal
from typing import Any

import flint
import pytest
from hypothesis import settings

from tests.postgres import server as server  # fixtures for whoever asks for them
from tests.spark import spark as spark

settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One process starts Spark, which takes long, for all tests that need it; they come first, being most.

    Groups by mark would say so too, but those of xdist 3.8 do nothing under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if "spark" in nodeid else nodeid

    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def precision() -> None:
    """Enough bits for every oracle."""
    flint.ctx.prec = 1000
