"""The budgets of the design, each as a ratio of berbench to the bare command, measured in one run."""
