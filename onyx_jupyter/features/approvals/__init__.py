"""Pending approvals and permanent grants."""
