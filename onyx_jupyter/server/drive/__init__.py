"""Onyx's own files as a drive of JupyterLab's file browser."""
