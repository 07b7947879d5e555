"""`python -m nalm`."""

from nalm.cli import main

if __name__ == "__main__":
    main()
