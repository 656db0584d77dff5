"""Run by Alembic: applies the steps on the connection, and inside the transaction, that ``migrate.py`` opened."""

from alembic import context

from interviewer.adapters.store.tables import Table

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
