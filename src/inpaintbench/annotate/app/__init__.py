"""The browser app: routes, pages, and the files that browsers load."""
