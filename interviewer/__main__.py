"""``python -m interviewer``."""

from interviewer.cli import main

main()
