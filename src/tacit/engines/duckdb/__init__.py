"""DuckDB, embedded: files, frames and DuckDB databases."""
