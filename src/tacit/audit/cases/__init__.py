"""One module for each mechanism: its cases and its broken twins, in a tuple named CASES."""
