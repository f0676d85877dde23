"""Groups found in the data: a least number of persons, the rest as one group, and weights for persons of many keys."""

import pyarrow as pa
import pytest

from tacit import Answers, Approx, Table, read
from tacit.errors import InvalidInput
from tacit.mechanisms.choose.stable_keys import WEIGHT, weights
from tacit.tables.statistics.ways.groups import KEY_LEVELS

SIZES = {"large": 4000, "middle": 700, "other": 600, "tiny": 2}


@pytest.fixture(scope="module")
def visits() -> Table:
    places = [place for place, size in SIZES.items() for _ in range(size)]
    rows = pa.table({"who": list(range(len(places))), "place": places, "x": [1.5] * len(places)})
    return read(rows, person="who", budget=Approx(10**4, "0.9"), table="visits")


def test_a_group_of_fewer_persons_is_never_shown(visits: Table) -> None:
    for _ in range(5):
        found = visits.group_by("place", at_least=650).persons(epsilon=4, delta="1e-6", fresh=True)
        assert set(found) <= {"large", "middle"}
        assert "those of fewer than 650 never" in str(found["large"])  # hidden with a chance below 1e-9


def test_the_rest_is_one_group_more(visits: Table) -> None:
    """False alarm below 1e-8: noise of 30 standard deviations, or a cap that is far too low."""
    found = visits.group_by("place", at_least=650, other=True).count(epsilon=40, delta="1e-6")
    assert isinstance(found, Answers)
    assert list(found)[-1] == "other"
    shown = sum(size for place, size in SIZES.items() if place in found and place != "other")
    rest, std = found["other"], found["other"].noise_std
    assert std is not None
    assert abs(float(rest) - (sum(SIZES.values()) - shown)) < 30 * std + 1


def test_a_group_that_is_called_other_stays_apart(visits: Table) -> None:
    found = visits.group_by("place", other=True).persons(epsilon=40, delta="1e-6")
    assert "other" in found  # 600 persons, which are shown but with a chance below 1e-9
    assert list(found)[-1] == "(other)"


def test_what_makes_no_sense_is_refused(visits: Table) -> None:
    with pytest.raises(InvalidInput, match="leave keys= out"):
        visits.group_by("place", keys=["large"], other=True)
    with pytest.raises(InvalidInput, match="leave keys= out"):
        visits.group_by("place", keys=["large"], at_least=5)
    with pytest.raises(InvalidInput, match="told apart exactly"):
        visits.group_by("x", other=True).count(epsilon=1, delta="1e-6")


def test_no_person_gives_more_than_the_whole_weight() -> None:
    for level, weight in zip(KEY_LEVELS, weights(KEY_LEVELS), strict=True):
        assert level * weight**2 <= WEIGHT**2
        assert weight >= 1
