"""The table of upper and lower case never changes: answers would."""

from hashlib import sha256

import pytest

from tacit.language.cases import changed, mapping


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
