"""Documents that a person wants found again: read, cut into passages, indexed. It changes none of them."""
