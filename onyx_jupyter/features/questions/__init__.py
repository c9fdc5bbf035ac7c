"""What the agent wants to know."""
