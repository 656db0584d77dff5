"""Rubric documents, one per round, with the criteria and drills they share."""
