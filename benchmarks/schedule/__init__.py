"""The figures of scheduled jobs and heartbeats."""
