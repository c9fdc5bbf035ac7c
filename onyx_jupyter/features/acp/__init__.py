"""Other agents as the mind of a session, by the Agent Client Protocol."""
