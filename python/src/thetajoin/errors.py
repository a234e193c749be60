"""What can go wrong in Python: one error for each thing a user does.

    ThetaJoinError
    ├── ConfigureError       configure(builder)
    ├── JarNotFoundError     jar_path(), and hence configure(builder)
    ├── ExplainJoinsError    explain_joins(df)
    └── AdviseError          python -m thetajoin advise

    UserWarning
    ├── RemoteBuilderWarning configure(builder) of a session on a Spark Connect server
    └── SettingsReplacedWarning  getOrCreate() of a builder whose confs were replaced since

A join that is not accelerated is never an error: ``explain_joins`` gives the reason.
"""

from __future__ import annotations


class ThetaJoinError(Exception):
    """Base of all errors here; the message says what and why, its last line how to mend it."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(f"{message}\nHint: {hint}")


class ConfigureError(ThetaJoinError):
    """The builder can't be set up, or it is too late for it."""


class JarNotFoundError(ThetaJoinError):
    """The jar that Spark has to load is neither in the package nor built in the source checkout."""


class ExplainJoinsError(ThetaJoinError):
    """The session has no thetajoin, or its report can't be read."""


class AdviseError(ThetaJoinError):
    """There is no event log where one was named, or it can't be unpacked."""


class RemoteBuilderWarning(UserWarning):
    """The builder is for a Spark Connect server, which has to be set up itself."""


class SettingsReplacedWarning(UserWarning):
    """A later ``config(..)`` of the builder has replaced what ``configure`` had put there."""
