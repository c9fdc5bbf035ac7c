"""Models that a subscription pays for: the sign-in to each, and what is known of the logins of other programs."""
