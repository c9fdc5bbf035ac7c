"""Models that run on this machine: download, pause, remove."""
