"""What the product does: one verb a file; they know ports, never adapters."""
