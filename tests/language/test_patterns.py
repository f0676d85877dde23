"""Patterns: what the small language takes, what it refuses by name, and that engines get nothing else."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import TacitError
from tacit.language.patterns import BACKSLASH_Z, CHOICES, LARGEST, braced, pattern, write
from tests.language.meanings import python


@pytest.mark.parametrize(
    "text",
    ["", "abc", "a|b|", "^a.*z$", "[a-z0-9_]+", "[^\\n]", "[]a]", "[a-]", "(?:ab){2,5}", "a{3}", "\\.\\\\\\*",
     "\\d\\w\\s\\D", "(a(b(c)))", "x{2,}", "[\\d-]", "é😀"],
)  # fmt: skip
def test_the_language(text: str) -> None:
    assert pattern(text).choices <= CHOICES


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(?=a)", r"\(\?…\) is not supported"),
        ("(?i)a", r"\(\?…\) is not supported"),
        ("a*?", "lazy, possessive or doubled"),
        ("a++", "lazy, possessive or doubled"),
        ("(ab)*", "repeats a group without a bound"),
        ("(a)\\1", r"\\1 is not supported"),
        ("\\bword", r"\\b is not supported"),
        ("[[:alpha:]]", r"\[:name:\] is not supported"),
        ("[\\W]", "inside a class"),
        ("a{2,1000}", "at most 100 times"),
        ("^*", r"repeats \^ or \$"),
        ("a*a*a*", "at most two of"),
        ("(" * 30 + ")" * 30, "nested too deeply"),
        ("(a{100}){100}", f"more than {LARGEST} characters"),
        ("((a|b){0,20}){0,10}", "too many repetitions"),
        ("*a", "repeats nothing"),
        ("a)", "closing parenthesis"),
        ("(a", "opening parenthesis"),
        ("[a", "closing bracket"),
        ("[z-a]", "ends before it begins"),
        ("a{x}", "no repetition"),
        ("a\\", "ends in a backslash"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(TacitError, match=words):
        pattern(text)


@given(st.text("ab.[]^$|()*+?{}1,2\\d-é😀\n", max_size=12), st.text("ab1é😀\n-", max_size=6))
@settings(max_examples=300, deadline=None)
def test_whatever_is_taken_means_what_it_means_in_python(text: str, looked_at: str) -> None:
    try:
        found = pattern(text)
    except TacitError:
        return
    written = write(found, lambda code: f"\\U{code:08X}", r"\Z")
    if not re.search(r"\[\[|--|&&|\|\||~~", text):  # Python keeps these for later
        assert bool(re.search(written, looked_at)) == bool(re.search(python(text), looked_at))


def test_nothing_but_letters_and_digits_is_written_as_it_is() -> None:
    hostile = "'; DROP TABLE t; -- ${x} #{y} &&[^"
    inside = "".join("\\" + c if not c.isalnum() else c for c in hostile)
    written = write(pattern(inside), braced, BACKSLASH_Z)
    assert re.fullmatch(r"(?:[A-Za-z0-9]|\\x\{[0-9A-F]+\})*", written)
    assert write(pattern("^a+b?$"), braced, BACKSLASH_Z) == "\\Aa{1,}b{0,1}\\z"


def test_any_case_follows_the_table_of_lower_and_upper() -> None:
    written = write(pattern("é", any_case=True), lambda code: f"\\U{code:08X}", r"\Z")
    assert re.search(written, "É")
    assert not re.search(written, "e")
