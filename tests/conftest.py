"""Settings of all tests: a busy machine must not fail a property for being slow, and every test starts with the same
precision of the ball arithmetic it is compared with, whatever the test before it asked for.
"""

import flint
import pytest
from hypothesis import settings

from tests.postgres import server as server  # fixtures for whoever asks for them
from tests.spark import spark as spark

settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")


@pytest.fixture(autouse=True)
def precision() -> None:
    """Enough bits for every oracle."""
    flint.ctx.prec = 1000
