"""Replays of a session are found by an index: deleting one looked through all sessions."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_session_parent_id", "session", ["parent", "id"])


def downgrade() -> None:
    """Take it away again."""
    op.drop_index("ix_session_parent_id", "session")
