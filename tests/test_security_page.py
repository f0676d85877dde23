"""The page about security names files that are there, and no address that is made up."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text()
LINKS = re.findall(r"\]\(([^)#]+)\)", PAGE)


@pytest.mark.parametrize("link", sorted(set(LINKS)))
def test_what_it_links_to_is_there(link: str) -> None:
    assert (ROOT / link).exists()


def test_every_attack_is_in_the_table_and_no_address_is_invented() -> None:
    attacks = {f"tests/attacks/{path.name}" for path in (ROOT / "tests" / "attacks").glob("test_*.py")}
    assert attacks <= set(LINKS)
    assert "@" not in PAGE
