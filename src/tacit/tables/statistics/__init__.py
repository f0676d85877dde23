"""Statistics: a file for each, which says all about it, and `catalogue`, which lists them."""
