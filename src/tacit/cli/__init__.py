"""The command line: `tacit`."""

import sys


def main() -> None:
    """Run the command line; nothing heavy is loaded before it is needed."""
    from tacit.cli.app import run

    sys.exit(run(sys.argv[1:]))
