"""What is remembered of a conversation once it is over."""
