"""The event store on SQLite or Postgres: tables, migrations, and the EventStore built on them."""

from interviewer.adapters.store.engine import connect
from interviewer.adapters.store.migrate import migrate
from interviewer.adapters.store.sql import SqlEventStore

__all__ = ["SqlEventStore", "connect", "migrate"]
