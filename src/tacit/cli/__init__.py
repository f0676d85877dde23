"""The command line: `tacit`."""

import sys


def main() -> None:
    """Run the command line; nothing heavy is loaded before it is needed."""
    try:
        from tacit.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules were being loaded
        print("tacit: interrupted; nothing was charged.", file=sys.stderr)
        code = 130
    sys.exit(code)
