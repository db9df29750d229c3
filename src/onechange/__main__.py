"""`python -m onechange`."""

from onechange.cli import main

main()
