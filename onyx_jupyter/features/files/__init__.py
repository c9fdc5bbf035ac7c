"""Files and folders as the agent reads and changes them."""
