"""What can be asked of Onyx, each thing declared once. Adapters (the socket today) read it; it knows none of them."""
