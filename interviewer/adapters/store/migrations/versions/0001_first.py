"""Sessions, their events, and loops."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "loop",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_loop"),
    )
    op.create_table(
        "session",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("persona", sa.String(), nullable=False),
        sa.Column("rubric", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("parent", sa.String(), nullable=True),
        sa.Column("loop_id", sa.String(), nullable=True),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("ended", sa.Boolean(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_session"),
        sa.ForeignKeyConstraint(["loop_id"], ["loop.id"], name="fk_session_loop_id"),
    )
    op.create_index("ix_session_created_at_id", "session", ["created_at", "id"])
    op.create_index("ix_session_loop_id_created_at_id", "session", ["loop_id", "created_at", "id"])
    op.create_table(
        "event",
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("v", sa.Integer(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "seq", name="pk_event"),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], name="fk_event_session_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("event")
    op.drop_table("session")
    op.drop_table("loop")
