"""Schemas: what users may write, and what they are told."""

import pytest

from tacit.errors import InvalidInput
from tacit.language.types import (
    BOOLEAN,
    DATE,
    FLOAT,
    INTEGER,
    OTHER,
    TEXT,
    TIMESTAMP,
    KeyType,
    Schema,
    column_type,
    decimal,
)


def test_names_of_types() -> None:
    names = "integer, INT, bigint, float, double, bool, boolean, date, timestamp, datetime, text, varchar, other"
    kinds = [INTEGER] * 3 + [FLOAT] * 2 + [BOOLEAN] * 2 + [DATE] + [TIMESTAMP] * 2 + [TEXT] * 2 + [OTHER]
    assert [column_type(name) for name in names.split(",")] == kinds
    assert column_type("decimal(2)") == column_type("numeric(10, 2)") == decimal(2)
    assert column_type(decimal(3)) is not None
    for kind in (*kinds, decimal(4)):
        assert column_type(str(kind)) == kind


@pytest.mark.parametrize("name", ["decimal", "integer(3)", "money", "", "decimal(2", "decimal(19)", "decimal(1234)"])
def test_unknown_types_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"integer, decimal\(2\), float|scale must lie between 0 and 18"):
        column_type(name)


def test_a_schema_is_an_ordered_mapping() -> None:
    schema = Schema.of({"b": "text", "a": "decimal(2)"})
    assert list(schema) == ["b", "a"]
    assert schema["a"] == decimal(2)
    assert "c" not in schema
    assert len(schema) == 2
    assert str(schema) == "b text, a decimal(2)"
    assert hash(schema) == hash(Schema.of({"b": "text", "a": "decimal(2)"}))


@pytest.mark.parametrize("columns", [(), (("a", TEXT), ("a", TEXT)), (("", TEXT),)])
def test_impossible_schemas_are_refused(columns: tuple[tuple[str, object], ...]) -> None:
    with pytest.raises(InvalidInput, match="each name once"):
        Schema(columns)  # type: ignore[arg-type]


def test_keys_meet_where_equality_is_exact() -> None:
    narrow, fine, wide = KeyType("number"), KeyType("number", 2), KeyType("number", 2, narrow=False)
    assert narrow.meets(fine)
    assert fine.meets(wide)
    assert not narrow.meets(wide)
    assert not narrow.meets(KeyType("double"))
