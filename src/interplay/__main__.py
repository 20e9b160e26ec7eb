"""`python -m interplay`: the command line."""

from interplay.app.cli.main import main

if __name__ == "__main__":
    main()
