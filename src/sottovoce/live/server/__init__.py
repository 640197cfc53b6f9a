"""The server's side of live sessions. It never imports the worker's side."""
