"""SQL: from a query to the questions it asks."""
