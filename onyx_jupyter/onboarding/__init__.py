"""Onboarding: questions about a person and how they like to work, and the files that their answers make."""
