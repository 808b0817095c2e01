# shellcheck shell=bash
# What scripts/package and packaging/test need, at pinned versions (sourced, bash).
package_requirements=(check-jsonschema==0.39.0 podman-compose==1.6.0)

# apt_tool COMMAND PACKAGE...: installs Debian packages where a command is missing; fails where they cannot be had.
apt_tool() {
    local command=$1 prefix=()
    shift
    PATH=$PATH:/usr/sbin:/sbin command -v "$command" >/dev/null && return 0
    command -v apt-get >/dev/null || return 1
    if [[ $EUID -ne 0 ]]; then
        command -v sudo >/dev/null || return 1
        prefix=(sudo -n)
    fi
    printf '\n==> installing by apt: %s\n' "$*" >&2
    "${prefix[@]}" apt-get update -qq &&
        "${prefix[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# compose_tools: puts check-jsonschema and podman-compose first in PATH; a venv, once. Fails where they cannot be had.
compose_tools() {
    local key folder
    key=$(printf '%s\n' "${package_requirements[@]}" | sha256sum)
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/berth/compose-${key:0:16}
    if [[ ! -e $folder/ready ]]; then
        printf '\n==> installing what checks the Compose file (pip, once)\n' >&2
        rm -rf "$folder" && mkdir -p "${folder%/*}" && python3 -m venv "$folder" &&
            "$folder/bin/pip" install --quiet --disable-pip-version-check "${package_requirements[@]}" >&2 &&
            touch "$folder/ready" || return 1
    fi
    PATH=$folder/bin:$PATH
}

# package_version: of the workspace.
package_version() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml; }

# The moment of the commit that is packaged, so that the same commit gives the same files.
package_epoch() {
    echo "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.toml)}"
}
