"""``python -m symattn``."""

from symattn.cli import main

main()
