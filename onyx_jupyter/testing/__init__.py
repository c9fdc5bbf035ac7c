"""The testing kit, shipped so that plugin authors can test too. Nothing in the product imports it."""
