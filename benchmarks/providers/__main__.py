"""`python -m benchmarks.providers`: the figures of this folder alone."""

import sys

from benchmarks.run import main

if __name__ == "__main__":
    sys.exit(main(["providers.protocols", "providers.settings", *sys.argv[1:]]))
