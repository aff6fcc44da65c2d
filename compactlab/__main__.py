"""`python -m compactlab`."""

import sys

from compactlab.cli import main

if __name__ == "__main__":
    sys.exit(main())
