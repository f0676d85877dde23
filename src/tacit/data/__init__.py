"""Bundled example data; README.md beside this file says where they come from."""

from pathlib import Path

HERE = Path(__file__).parent
WAGES = HERE / "wages.parquet"
"""Interviews of young women about their work: one row for each interview, `woman` says who."""
INDUSTRIES = HERE / "industries.csv"
"""Names of the industry codes: public."""
