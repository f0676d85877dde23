"""The command line: `tacit`."""

import logging
import sys


def main() -> None:
    """Run the command line; nothing heavy is loaded before it is needed."""
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it comments on queries that are refused anyway
    try:
        from tacit.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were being loaded
        print("tacit: interrupted; nothing was charged.", file=sys.stderr)
        code = 130
    sys.exit(code)
