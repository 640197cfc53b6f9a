"""The server's half of live sessions. It never imports a worker's half."""
