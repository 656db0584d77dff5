"""What the service does: one turn, scoring, replay, import. Talks to the world through ``ports`` only."""
