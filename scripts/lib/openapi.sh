# shellcheck shell=bash
# Linters of the OpenAPI document and generators of clients, at pinned versions, in a folder outside the tree (sourced, bash).
# All of them come through Python's and npm's registries, Node.js too, so that no other version of it is asked of the machine.

openapi_lists=$(cd "$(dirname "${BASH_SOURCE[0]}")/../openapi" && pwd -P)

# No package that is newer: those that are not pinned here themselves would change from day to day.
openapi_before=2026-11-27T00:00:00Z

# openapi_folder: where this version of the tools is, or will be.
openapi_folder() {
    local key
    key=$({ cat "$openapi_lists"/{package.json,requirements.txt} && echo "$openapi_before"; } | sha256sum)
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/berth/openapi-${key:0:16}"
}

# openapi_tools: puts them first in PATH; fails where they are not installed.
openapi_tools() {
    local folder
    folder=$(openapi_folder)
    [[ -e $folder/ready ]] || return 1
    export OPENAPI_TOOLS=$folder PATH=$folder/bin:$folder/node_modules/.bin:$PATH
}

# openapi_install: installs them where they are missing; half a minute and 400 MB, once. Fails where they cannot be had.
openapi_install() (
    folder=$(openapi_folder)
    mkdir -p "$(dirname "$folder")" || return 1
    exec 9>"$folder.lock"
    flock 9
    [[ ! -e $folder/ready ]] || return 0
    printf '\n==> installing what checks the OpenAPI document and makes clients of it (pip and npm, once)\n'
    PATH=$folder/bin:$PATH
    # Each step by itself: whoever asks whether this worked switches `set -e` off.
    rm -rf "$folder" &&
        python3 -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "openapi: Python 3.11 or newer is needed")' &&
        python3 -m venv "$folder" &&
        pip install --quiet --disable-pip-version-check --requirement "$openapi_lists/requirements.txt" &&
        cp "$openapi_lists/package.json" "$folder/" &&
        npm install --prefix "$folder" --no-audit --no-fund --ignore-scripts --loglevel error --before "$openapi_before" &&
        touch "$folder/ready"
) >&2
