"""How strong a task's hidden tests are, and how fair its prompt: what to run, and what the runs tell. Pure."""
