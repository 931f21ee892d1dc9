"""`inpaintbench view`: datasets, workspaces, runs, studies and reports of folders, looked at together in the browser.

``finding`` says what lies there, ``joining`` which of it can be compared and arranges it in columns, ``pixels`` makes pictures
and films of items, ``notes`` keeps what people write beside it, ``server`` answers. The page's own part is ``static``.
"""
