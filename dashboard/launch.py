"""`radam-lab`: the installed app's command. Alone it starts the server; with a command it is `python -m dashboard`.

radam-lab --server.port 9000        any option of `streamlit run`
radam-lab open run.jsonl            any command of `python -m dashboard`
"""

import sys
from importlib.metadata import PackageNotFoundError, version

NAME = "radam-lab"


def main() -> int:
    given = sys.argv[1:]
    try:
        if given == ["--version"]:
            print(f"RAdam Lab {installed_version()}")
            return 0
        asks_for_help = given in (["--help"], ["-h"])
        if asks_for_help:
            print(f"{__doc__}\n", flush=True)
        if asks_for_help or (given and not given[0].startswith("-")):
            from dashboard.__main__ import main as command

            return command(given)
        return _serve(given)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in ("", "dashboard", "demo_models", "radam_core"):
            raise
        print(f'{NAME}: the app needs {missing}: pip install "{NAME}[app]"', file=sys.stderr)
        return 2


def installed_version() -> str:
    """pyproject.toml has it, and an installed copy its metadata."""
    try:
        return version(NAME)
    except PackageNotFoundError:
        return "not installed"


def _serve(options: list[str]) -> int:
    from streamlit.web import cli

    from dashboard.navigation import APP_FOLDER

    sys.argv = ["streamlit", "run", str(APP_FOLDER / "app.py"), *options]
    result = cli.main(standalone_mode=False)
    return int(result or 0)


if __name__ == "__main__":
    sys.exit(main())
