# shellcheck shell=bash
# Prometheus's tool for rules, from Debian's or Ubuntu's package `prometheus`, in a folder outside the tree (sourced, bash).
# Only that file of the package: nothing is installed, so no server starts, and no root is needed.

promtool_folder=${XDG_CACHE_HOME:-$HOME/.cache}/berth/promtool

# promtool_tools: puts it first in PATH; fails where there is none.
promtool_tools() {
    [[ ! -x $promtool_folder/promtool ]] || export PATH=$promtool_folder:$PATH
    command -v promtool >/dev/null
}

# promtool_install: fetches it where it is missing; 20 MB, once. Fails where it cannot be had.
promtool_install() (
    ! promtool_tools || return 0
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && mkdir -p "$promtool_folder" || return 1
    exec 9>"$promtool_folder/lock"
    flock 9
    [[ ! -x $promtool_folder/promtool ]] || return 0
    printf '\n==> fetching promtool (package prometheus, once)\n'
    work=$(mktemp -d) || return 1
    trap 'rm -rf "$work"' EXIT
    cd "$work" || return 1
    # apt compares it with what the signed list says. Lists of its own where the machine's are missing or old.
    mkdir -p state/lists/partial cache/archives/partial
    own=(-o Dir::State="$work/state" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$work/cache")
    quiet=(-qq -o APT::Sandbox::User=root)
    apt-get "${quiet[@]}" download prometheus 2>/dev/null ||
        { apt-get "${quiet[@]}" "${own[@]}" update && apt-get "${quiet[@]}" "${own[@]}" download prometheus; } || return 1
    dpkg-deb -x prometheus_*.deb package && install package/usr/bin/promtool "$promtool_folder/promtool"
) >&2
