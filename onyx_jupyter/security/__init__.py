"""Who may reach what, and what must not be seen. It never asks a person; that is the approvals' work."""
