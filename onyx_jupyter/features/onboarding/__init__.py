"""Onboarding: questions in the sidebar, and the agent's files that the answers make."""
