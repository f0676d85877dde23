"""Hostile SQL, thousands of it, the same every time: files, functions, several statements, errors, nonsense."""

from __future__ import annotations

import random
from collections.abc import Iterator

CANARIES = ("canary_one", "canary_two", "987654321")
"""Values that the private table holds and no message may show."""
SECRET = "the contents of a file"

_FILES = [
    "SELECT COUNT(*) FROM '{file}'",
    'SELECT COUNT(*) FROM "{file}"',
    "SELECT COUNT(*) FROM read_text('{file}')",
    "SELECT COUNT(*) FROM read_csv('{file}')",
    "SELECT COUNT(*) FROM read_blob('{file}') AS visits",
    "SELECT MAX(content) FROM read_text('{file}')",
    "SELECT COUNT(*) FROM visits, read_text('{file}')",
    "SELECT COUNT(*) FROM visits JOIN '{file}' ON true",
    "SELECT COUNT(*) FROM visits WHERE place IN (SELECT content FROM read_text('{file}'))",
    "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM glob('{file}'))",
    "SELECT SUM((SELECT LENGTH(content) FROM read_text('{file}'))) FROM visits",
    "WITH f AS (SELECT * FROM read_text('{file}')) SELECT COUNT(*) FROM f",
    "COPY visits TO '{file}'",
    "COPY (SELECT * FROM visits) TO '{file}' (FORMAT csv)",
    "ATTACH '{file}' AS other",
    "LOAD '{file}'",
    "INSTALL httpfs",
    "EXPORT DATABASE '{file}'",
    "SELECT COUNT(*) FROM visits; COPY visits TO '{file}'",
    "SELECT COUNT(*) FROM sqlite_scan('{file}', 'tacit_entries')",
    "SELECT COUNT(*) FROM visits INTO OUTFILE '{file}'",
    "SELECT lo_import('{file}')",
    "SELECT pg_read_file('{file}')",
    "SELECT COUNT(*) FROM parquet_metadata('{file}')",
]
_ERRORS = [
    "SELECT SUM(CAST(place AS INTEGER)) FROM visits",
    "SELECT SUM(CAST(who AS DATE)) FROM visits",
    "SELECT SUM(1 / (minutes - 987654321)) FROM visits",
    "SELECT SUM(minutes * 9223372036854775807 * 9223372036854775807) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE error(who)",
    "SELECT COUNT(*) FROM visits WHERE CASE WHEN place = 'canary_one' THEN error('x') ELSE true END",
    "SELECT MIN(strptime(place, '%Y')) FROM visits",
    "SELECT MAX(place) FROM visits",
    "SELECT who FROM visits",
    "SELECT * FROM visits",
    "SELECT visits FROM visits",
    "SELECT COLUMNS(*) FROM visits",
    "SELECT MAX(COLUMNS(*)) FROM visits",
    "SELECT string_agg(place, ',') FROM visits",
    "SELECT list(who) FROM visits",
    "SELECT arg_max(who, minutes) FROM visits",
    "SELECT histogram(place) FROM visits",
    "SELECT COUNT(*) FROM visits GROUP BY place",
    "SELECT place, COUNT(*) FROM visits GROUP BY place",
    "SELECT place, COUNT(*) FROM visits GROUP BY ALL",
    "SELECT COUNT(*) FROM visits HAVING COUNT(*) > 3",
    "SELECT COUNT(*) OVER () FROM visits",
    "SELECT COUNT(*) FROM visits UNION SELECT MAX(minutes) FROM visits",
    "SELECT COUNT(*) FROM visits LIMIT (SELECT MAX(minutes) FROM visits)",
    "SELECT COUNT(*) FROM visits ORDER BY (SELECT who FROM visits LIMIT 1)",
    "SELECT getenv('HOME'), COUNT(*) FROM visits",
    "SELECT current_setting('temp_directory') FROM visits",
    "SELECT COUNT(*) FROM duckdb_settings()",
    "SELECT COUNT(*) FROM information_schema.tables",
    "SELECT COUNT(*) FROM pg_catalog.pg_class",
    "SELECT COUNT(*) FROM visits TABLESAMPLE 10%",
    "SELECT COUNT(*) FROM visits WHERE who = (SELECT who FROM visits LIMIT 1)",
    "SELECT COUNT(*) FROM visits v, visits w, visits x WHERE v.who = w.who",
    "SELECT COUNT(DISTINCT who) FILTER (WHERE minutes > 1) FROM visits",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e999999999) COUNT(*) FROM visits",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0, delta=2) COUNT(*) FROM visits",
    "SELECT QUANTILE_CONT(minutes, 1e400) FROM visits",
    "SELECT QUANTILE_CONT(minutes, [0.1, 0.2, minutes]) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE minutes = 1e999999",
    "SELECT COUNT(*) FROM visits WHERE minutes = 0x" + "f" * 500,
    "SELECT SUM(minutes) FROM visits WHERE place LIKE '%" + "_%" * 300 + "'",
    "UPDATE visits SET minutes = 0",
    "DELETE FROM visits",
    "DROP TABLE visits",
    "CREATE TABLE t AS SELECT * FROM visits",
    "PRAGMA database_list",
    "SET memory_limit = '1KB'",
    "CALL pragma_version()",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM visits",
    "DESCRIBE visits",
    "SUMMARIZE visits",
    "SHOW TABLES",
    "BEGIN; DROP TABLE visits; COMMIT",
    "VACUUM",
    "PREPARE p AS SELECT * FROM visits",
    "SELECT",
    "",
    ";;;",
    "SELECT COUNT(*) FROM",
    "SELECT 'unclosed",
    'SELECT "unclosed',
    "/* unclosed SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits -- '; DROP TABLE visits",
    "SELECT COUNT(*) FROM visits WHERE place = $1",
    "SELECT COUNT(*) FROM visits WHERE place = ? AND who = :name",
    "SELECT COUNT(*) FROM visits WHERE list_filter([who], x -> error(x)) IS NULL",
    "SELECT COUNT(*) FROM visits WHERE " + "(" * 900 + "true" + ")" * 900,
    "SELECT COUNT(*) FROM visits WHERE " + "NOT " * 900 + "true",
    "SELECT SUM(" + "-" * 900 + "minutes) FROM visits",
    "SELECT SUM(" + "minutes + " * 700 + "1) FROM visits",
    "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 300 + "visits" + ") t" * 300,
    "SELECT " + ", ".join(["SUM(minutes)"] * 400) + " FROM visits",
    "SELECT " + ", ".join(f"SUM(minutes + {i})" for i in range(300)) + " FROM visits",
    "SELECT CASE " + "WHEN minutes = 1 THEN 1 " * 300 + "END, COUNT(*) FROM visits GROUP BY 1",
]
_NOISE = [
    *"()[]{}'\"`;,.*+-/%=<>!&|^~@#$?:\\\n\t\x0b\u0000\u202e\ud7ffé😀０",
    " SELECT ", " FROM visits ", " WHERE ", " NULL ", " CAST(", " AS ", " IN ", " BETWEEN ", " LIKE ", " OR 1=1 ", "--",
    "/*", "*/", "$$", "E'\\x41'", "X'41'", "1e308", "-9223372036854775808", "NaN", "infinity", "who", "minutes",
    "place", "::INT", "INTERVAL 1 DAY", "UNNEST(", "LATERAL ", "RECURSIVE ", "read_text(", "{file}",
]  # fmt: skip


_AGGREGATES = ["COUNT(*)", "SUM({})", "AVG({})", "MIN({})", "MAX({})", "MEDIAN({})", "COUNT(DISTINCT {})", "STDDEV({})"]
_VALUES = [
    "minutes", "who", "place", "visits.minutes", "minutes / (minutes - 5)", "CAST({} AS DOUBLE)", "CAST({} AS VARCHAR)",
    "ABS({})", "-{}", "({} + {})", "({} * {})", "COALESCE({}, {})", "CASE WHEN {} THEN {} ELSE {} END", "LENGTH({})",
    "substr({}, 1, 3)", "read_text({})", "error({})", "getenv({})", "1e308 * {}", "9223372036854775807 + {}", "NULL",
    "(SELECT MAX(minutes) FROM visits)", "'{file}'", "EXTRACT(year FROM {})", "LEAST({}, {})", "0 / 0", "TRUE",
    "{} || {}", "list_value({})", "random()", "now()", "nextval('s')", "TRY_CAST({} AS INT)", "date_trunc('day', {})",
]  # fmt: skip
_CONDITIONS = [
    "{} = {}", "{} < {}", "{} IN ({}, {})", "{} IS NULL", "NOT ({} = {})", "{} BETWEEN {} AND {}", "{} LIKE 'canary%'",
    "({} = 1 OR {} > 2)", "EXISTS (SELECT 1 FROM visits)", "{} IN (SELECT who FROM visits)", "{} SIMILAR TO '.*'",
    "regexp_matches({}, '.*')", "{}", "{} IS NOT DISTINCT FROM {}", "{} > ALL (SELECT minutes FROM visits)",
]  # fmt: skip
_SOURCES = [
    "visits", "visits v", "visits, visits w", "visits JOIN visits w ON visits.who = w.who", "(SELECT * FROM visits) t",
    "(SELECT minutes, who FROM visits WHERE minutes > 3) visits", "visits NATURAL JOIN visits", "read_csv('{file}')",
    "visits LEFT JOIN visits w ON visits.minutes = w.minutes", "visits CROSS JOIN range(10)", "'{file}'", "VALUES (1)",
]  # fmt: skip


def _grown(draw: random.Random, depth: int = 3) -> str:
    """A value that is SQL, of parts that may not belong together."""
    text = draw.choice(_VALUES if depth else _VALUES[:4])
    while "{}" in text:
        text = text.replace("{}", _grown(draw, max(depth - 1, 0)), 1)
    return text


def _query(draw: random.Random) -> str:
    """A query that reads well, and mostly should not be answered."""
    wanted = [draw.choice(_AGGREGATES).replace("{}", _grown(draw)) for _ in range(draw.choice((1, 1, 1, 2)))]
    text = f"SELECT {', '.join(wanted)} FROM {draw.choice(_SOURCES)}"
    if draw.random() < 0.7:
        condition = draw.choice(_CONDITIONS)
        while "{}" in condition:
            condition = condition.replace("{}", _grown(draw, 2), 1)
        text += f" WHERE {condition}"
    if draw.random() < 0.2:
        text += f" GROUP BY {_grown(draw, 1)}"
    if draw.random() < 0.1:
        text += f" ORDER BY {_grown(draw, 1)} LIMIT {draw.choice(('1', 'ALL', '1e9', '(SELECT 1)'))}"
    return text


def hostile(count: int, file: str, seed: int = 13) -> Iterator[tuple[str, bool]]:
    """So many strings, each with whether it reaches for a file."""
    draw = random.Random(seed)
    fixed = [(text, True) for text in _FILES] + [(text, False) for text in _ERRORS]
    for number in range(count):
        text, reaches = fixed[number] if number < len(fixed) else draw.choice(fixed)
        if number >= len(fixed) and number % 3:
            text, reaches = _query(draw), False
        elif number >= len(
            fixed
        ):  # the same again, broken in a few places; what it reaches for is then anybody's guess
            reaches = False
            for _ in range(draw.randint(1, 3)):
                at = draw.randint(0, len(text))
                text = text[:at] + draw.choice(_NOISE) + text[at + draw.choice((0, 0, 1, 7)) :]
        yield text.replace("{file}", file), reaches


def rows() -> str:
    """The private table: CSV with canaries in every column."""
    lines = [f"{CANARIES[0]}_{i},{987654321 if i % 9 == 0 else i % 50},{CANARIES[1]}_{i % 3}" for i in range(60)]
    return "who,minutes,place\n" + "\n".join(lines) + "\n"
