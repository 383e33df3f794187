"""`python -m gough` is the command `gough`."""

from gough_command import main

if __name__ == "__main__":
    main()
