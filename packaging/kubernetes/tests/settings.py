"""Berth's settings, as config/default.toml has them: their names, and which are secrets.

    settings.py FOLDER...      names in these folders that look like a setting and are none; ends with 1 if there are any
"""

import re
import sys
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


def unknown(folder):
    """Names in the files of a folder that are no settings, with their files."""
    names, _ = read()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in {".tf", ".tftpl", ".hcl", ".md"}):
        for name in sorted(set(re.findall(r"BERTH_[A-Z]+(?:_[A-Z]+)*__[A-Z0-9_]+", path.read_text())) - names):
            yield f"{path}: {name} is no setting of Berth (config/default.toml)"


if __name__ == "__main__":
    found = [problem for folder in sys.argv[1:] for problem in unknown(Path(folder))]
    print("\n".join(found))
    sys.exit(1 if found else 0)
