"""The command line for the tests: commands as a person types them, and what they say."""

from __future__ import annotations

import json

import pytest

from co_cli.surfaces.cli.main import main


class Co:
    """Runs commands as a person would, and keeps what they said."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *argv: str) -> int:
        """Run one command; returns its exit code."""
        code = main(list(argv))
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *argv: str) -> dict:
        """Run one command with ``--json``, and read its stdout, which must be one document."""
        self(*argv, "--json")
        return json.loads(self.out)
