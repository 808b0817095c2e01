"""Berth's settings, as config/default.toml has them: their names, and which are secrets."""

import re
import tomllib
from pathlib import Path

DEFAULTS = Path(__file__).resolve().parents[3] / "config" / "default.toml"


def variable(section, key):
    """The name of a setting in the environment."""
    return f"BERTH_{section}__{key}".upper()


def read():
    """Names of all settings in the environment, and of the secret ones."""
    text = DEFAULTS.read_text()
    names = {variable(section, key) for section, keys in tomllib.loads(text).items() for key in keys}
    secret, section, comment = set(), None, ""
    for line in text.splitlines():
        if found := re.match(r"\[(\w+)\]", line):
            section, comment = found[1], ""
        elif line.startswith("#"):
            comment += line
        elif found := re.match(r"(\w+) =", line):
            if "# [secret]" in comment:
                secret.add(variable(section, found[1]))
            comment = ""
    assert len(secret) > 10 and secret < names, "the marks [secret] of config/default.toml could not be read"
    return names, secret
