"""The table of upper and lower case never changes: answers would."""

from hashlib import sha256

import duckdb
import pytest

from tacit.language.cases import changed, mapping, settled


@pytest.mark.parametrize(
    ("upper", "pairs", "digest"),
    [(False, 710, "79c4076b62999f7c"), (True, 693, "c79a1a3dddd09def")],
)
def test_the_table_stays(upper: bool, pairs: int, digest: str) -> None:
    table = mapping(upper)
    assert len(table) == pairs
    assert sha256(repr(sorted(table.items())).encode()).hexdigest()[:16] == digest


def test_one_character_becomes_one() -> None:
    assert changed("ÀÉÎ ΣΑΣ ЖЁ ǅ", upper=False) == "àéî σασ жё ǆ"
    assert changed("straße ﬀ ŉ ı", upper=True) == "STRAßE ﬀ ŉ I"
    assert changed("İ", upper=False) == "İ"


@pytest.mark.parametrize("upper", [False, True])
def test_what_is_settled_is_what_duckdb_does(upper: bool) -> None:
    """DuckDB's own function is asked about these characters alone."""
    codes = [code for low, high in settled(upper) for code in range(low, high + 1)]
    assert len(codes) > 20_000
    text = "".join(map(chr, codes))
    with duckdb.connect() as connection:
        (found,) = connection.execute(f"SELECT {'UPPER' if upper else 'LOWER'}($1)", [text]).fetchall()[0]
    assert found == changed(text, upper)
    odd = {"ß", "ŉ", "ǰ"} if upper else {"İ"}
    assert not odd & set(text)
