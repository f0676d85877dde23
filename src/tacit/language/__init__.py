"""The language of questions: column types, typed expressions, and how text becomes one."""
