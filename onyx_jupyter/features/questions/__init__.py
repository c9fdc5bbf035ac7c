"""The agent's questions to the user."""
