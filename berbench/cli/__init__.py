"""Floor 4: one verb a file; wiring; the one error boundary; the only place that prints."""
