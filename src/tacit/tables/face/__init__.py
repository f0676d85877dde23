"""What a user holds: sessions, tables, groups, and how tables are declared."""
