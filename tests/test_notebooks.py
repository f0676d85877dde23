"""What notebooks show: the released and the public, and nothing that could be taken for markup."""

import pyarrow as pa

from tacit import Pure, Session
from tacit.tables import Private

EVIL = "<script>alert(1)</script>"


def test_a_session_shows_schema_and_budget_and_no_row() -> None:
    table = pa.table({"who": ["SECRET"], EVIL: [1]})
    with Session({EVIL: Private(table, person="who")}, budget=Pure(2)) as session:
        page = session._repr_html_()
    assert EVIL not in page
    assert page.count("&lt;script&gt;") == 2
    assert "SECRET" not in page
    assert "Budget Pure(2): spent Pure(0), left Pure(2)" in page
    assert page.count("<tr>") == 2


def test_a_guarantee_and_a_budget_explain_themselves() -> None:
    assert "<strong>ε = 1</strong>" in Pure(1)._repr_html_()
    assert "with all their rows" in Pure(1)._repr_html_()
