"""What model calls use and cost: the ledger, its totals, and the budget. Knows no tools, runs or sockets."""
