"""Whether a process is still there."""

import psutil


def lives(pid):
    """A process that has ended and was not waited for does not count."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
