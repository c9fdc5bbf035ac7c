"""Writing to disk so that a crash at any byte loses nothing. It never knows what the bytes mean."""
