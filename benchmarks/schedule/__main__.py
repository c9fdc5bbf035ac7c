"""`python -m benchmarks.schedule`: the figures of this folder alone."""

import sys

from benchmarks.run import main

if __name__ == "__main__":
    sys.exit(main(["schedule.many_jobs", "schedule.empty_heartbeat", "schedule.panel", *sys.argv[1:]]))
