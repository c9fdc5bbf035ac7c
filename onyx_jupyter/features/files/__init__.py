"""Reading and changing files and folders."""
