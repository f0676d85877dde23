"""Samples of persons: whole persons, as many as they should be, the same in every round of one key."""

import os
import time
from dataclasses import replace
from os import urandom
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.engines import Source
from tacit.engines.duckdb.engine import TICK, DuckDB
from tacit.engines.requests import SAMPLE_STEPS, Persons, Relation, RowCount, Sample, TotalBuckets
from tacit.errors import InvalidInput
from tacit.language.expressions import Scope
from tacit.language.types import Schema
from tests.engines.support import PERSONS, engine_over, relation, tables
from tests.support import Binomial

CAPS = (1, 2, 4, 8, 16)


def sampled(whole: Relation, steps: int, key: bytes | None = None) -> Relation:
    return replace(whole, sample=Sample(steps, key or urandom(32)))


@given(tables(), st.sampled_from(PERSONS), st.binary(min_size=16, max_size=32))
@settings(max_examples=15, deadline=None)
def test_a_person_is_in_the_sample_with_all_rows_or_with_none(
    table: list[dict[str, object]], who: str, key: bytes
) -> None:
    """Whoever is left out by one half of the hashes is taken by the other, -0.0 and 0.0 being one person."""
    whole = relation(who)
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        everybody, rows = snapshot.ask(whole, (Persons(), TotalBuckets(RowCount(), CAPS)))
        half = sampled(whole, SAMPLE_STEPS // 2, key)
        persons, kept = snapshot.ask(half, (Persons(), TotalBuckets(RowCount(), CAPS)))
        assert sum(bucket.count for bucket in kept.positive) == persons <= everybody
        for some, of_all in zip(kept.positive, rows.positive, strict=True):
            assert some.count <= of_all.count
    with engine_over(table) as engine, engine.snapshot() as snapshot:
        assert snapshot.ask(half, (Persons(),)) == (persons,)
        assert snapshot.ask(sampled(whole, SAMPLE_STEPS, key), (Persons(),)) == (everybody,)


def test_as_many_as_they_should_be() -> None:
    """20,000 persons, a tenth of them twice: the number sampled is binomial. False alarm 2e-7."""
    people = 20_000
    connection = pa.table({"who": [*range(people), *range(people // 10)]})
    engine = DuckDB({"t": Source(connection)})
    scope = Scope.of(engine.schema("t"), "t")
    whole = Relation("t", "t", scope.find("who"))  # type: ignore[arg-type]
    law = Binomial(people, 0.3)
    with engine.snapshot() as snapshot:
        persons, rows = snapshot.ask(
            sampled(whole, 3 * SAMPLE_STEPS // 10), (Persons(), TotalBuckets(RowCount(), CAPS))
        )
        assert law.at_most(persons) > 1e-7 < law.at_least(persons)
        assert sum(bucket.count for bucket in rows.positive) == persons
        assert persons < sum(bucket.sum for bucket in rows.positive) < 1.2 * persons  # 1.1 expected, 20 deviations off
    engine.close()


def test_a_sample_shows_no_key_and_needs_one_person_a_row() -> None:
    whole = relation()
    assert "sample" not in repr(sampled(whole, 5, b"0123456789abcdef"))
    assert "0123456789abcdef" not in repr(Sample(5, b"0123456789abcdef"))
    with pytest.raises(InvalidInput, match="only where a row concerns one person"):
        replace(whole, others=(("", whole.person),), sample=Sample(5, bytes(16)))
    for steps, key in ((0, bytes(16)), (SAMPLE_STEPS + 1, bytes(16)), (5, b"short")):
        with pytest.raises(InvalidInput, match="a sample takes"):
            Sample(steps, key)


def test_the_list_of_everybody_is_kept_and_follows_the_file(tmp_path: Path) -> None:
    """A person who comes later is in a sample of everybody; nobody is asked for while the file stays as it is.

    Two of the persons have numbers that no decimal of 38 digits is.
    """
    path = tmp_path / "t.csv"

    def write(people: int) -> None:
        path.write_text("who\n" + "".join(f"{i * 10**38 // 4}\n" for i in range(people)))
        old = path.stat().st_mtime_ns - 10**9 * (100 - people)
        os.utime(path, ns=(old, old))
        time.sleep(2 * TICK)  # the time of the last change of anything cannot be set

    write(5)
    engine = DuckDB({"t": Source(str(path), Schema.of({"who": "integer"}))})
    scope = Scope.of(engine.schema("t"), "t")
    whole = Relation("t", "t", scope.find("who"))  # type: ignore[arg-type]
    for people, kept in ((5, 1), (5, 1), (7, 2)):
        if people > 5:
            write(people)
        with engine.snapshot() as snapshot:
            assert snapshot.ask(sampled(whole, SAMPLE_STEPS), (Persons(),)) == (people,)
        assert len(engine.lasting) == kept
    engine.close()
