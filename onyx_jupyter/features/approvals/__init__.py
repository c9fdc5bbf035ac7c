"""What waits for a yes, and what was allowed for good."""
