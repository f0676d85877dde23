"""The command line: `tacit`."""

import gc
import logging
import sys


def main() -> None:
    """Run the command line; nothing heavy is loaded before it is needed."""
    gc.set_threshold(10_000)  # most of what a command makes it keeps: to look it all through took a third of a forecast
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it comments on queries that are refused anyway
    try:
        from tacit.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were being loaded
        print("tacit: interrupted; nothing was charged.", file=sys.stderr)
        code = 130
    sys.exit(code)
