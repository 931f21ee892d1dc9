"""Opening reports, datasets and runs in a browser: what lies in a folder, and a server of this machine for it."""
