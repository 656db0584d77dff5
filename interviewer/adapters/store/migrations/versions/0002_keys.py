"""API keys, sign-ins, engine time by day, and whose a session or loop is."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add to the tables; what is there stays, and is nobody's until somebody adopts it."""
    for table in ("session", "loop"):
        op.add_column(table, sa.Column("owner", sa.String(), nullable=False, server_default=""))
    op.create_index("ix_session_owner_created_at_id", "session", ["owner", "created_at", "id"])
    op.create_table(
        "api_key",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("scopes", sa.String(), nullable=False),
        sa.Column("secret_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_api_key"),
    )
    op.create_table(
        "sign_in",
        sa.Column("cookie_hash", sa.String(), nullable=False),
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("cookie_hash", name="pk_sign_in"),
        sa.ForeignKeyConstraint(["key_id"], ["api_key.id"], name="fk_sign_in_key_id", ondelete="CASCADE"),
    )
    op.create_table(
        "engine_time",
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key_id", "day", name="pk_engine_time"),
        sa.ForeignKeyConstraint(["key_id"], ["api_key.id"], name="fk_engine_time_key_id", ondelete="CASCADE"),
    )


def downgrade() -> None:
    """Take it away again."""
    op.drop_table("engine_time")
    op.drop_table("sign_in")
    op.drop_table("api_key")
    op.drop_index("ix_session_owner_created_at_id", "session")
    for table in ("session", "loop"):
        op.drop_column(table, "owner")
