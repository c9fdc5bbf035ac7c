"""Work that happens by itself: scheduled jobs and heartbeats."""
