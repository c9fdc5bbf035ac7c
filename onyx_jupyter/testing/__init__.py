"""The testing kit, shipped so that plugin authors can use it, too. The product itself does not import it."""
