"""What can answer."""
