"""What a hostile reader found, and what must never work again."""
