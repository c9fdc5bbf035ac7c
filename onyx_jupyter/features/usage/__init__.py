"""What model calls use and cost, for the panel: totals, the budget, and an event when they change."""
