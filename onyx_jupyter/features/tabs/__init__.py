"""The browser tabs, and what they have open."""
