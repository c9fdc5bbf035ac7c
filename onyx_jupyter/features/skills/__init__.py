"""Skills: finding, trusting and running them."""
