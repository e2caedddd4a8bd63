"""The forge door: GitHub and GitLab over their APIs. `opening.open_forge` gives one, `remote` reads addresses."""
