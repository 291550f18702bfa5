"""`python -m macroscope` is `macroscope`."""

from macroscope.cli import main

if __name__ == "__main__":
    main()
