"""Runs every benchmark, or those named: `python -m benchmarks [kernel] [placement]`."""

import sys

from benchmarks import kernel, placement

BENCHMARKS = {"kernel": kernel.main, "placement": placement.main}


def main() -> None:
    """Run what the command line names."""
    names = sys.argv[1:] or list(BENCHMARKS)
    if unknown := [name for name in names if name not in BENCHMARKS]:
        sys.exit(f"unknown benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    for name in names:
        BENCHMARKS[name]()
        print()


if __name__ == "__main__":
    main()
