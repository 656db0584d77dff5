"""More than one machine: engines behind a router, API workers, one database. See README.md beside this file."""
