"""Approvals, grants and questions. Silence, a stop or a restart is never a yes."""
