# shellcheck shell=bash
# What scripts/browser-test needs: a Chromium, a Node.js, and npm's packages at pinned versions in target/browser (sourced, bash).
# Needs scripts/lib/openapi.sh, whose tools bring a Node.js where the machine has none that is new enough.

browser_lists=$(cd "$(dirname "${BASH_SOURCE[0]}")/../browser" && pwd -P)

# browser_folder: where its tools and its screenshots are.
browser_folder() {
    local target=${CARGO_TARGET_DIR:-$browser_lists/../../target}
    mkdir -p "$target/browser" && (cd "$target/browser" && pwd -P)
}

# browser_program: prints the browser. BROWSER_PROGRAM names another one.
browser_program() {
    command -v "${BROWSER_PROGRAM:-chromium}" || command -v chromium-browser || command -v google-chrome-stable
}

# browser_node: has `node` be one that playwright-core takes, and `npm` be there.
browser_node() {
    local check='process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)'
    node -e "$check" 2>/dev/null && command -v npm >/dev/null && return 0
    openapi_tools && node -e "$check" 2>/dev/null && command -v npm >/dev/null
}

# browser_packages: prints the folder of the packages; fails where they are not installed.
browser_packages() {
    local key folder
    key=$(cat "$browser_lists"/package*.json | sha256sum)
    folder=$(browser_folder)/tools-${key:0:16}
    echo "$folder"
    [[ -e $folder/ready ]]
}

# browser_install: installs the packages where they are missing; seconds and 18 MB, once. Fails where they cannot be had.
browser_install() (
    ! browser_packages >/dev/null || return 0
    browser_node || return 1
    folder=$(browser_packages || true)
    exec 9>"$folder.lock"
    flock 9
    [[ ! -e $folder/ready ]] || return 0
    printf '\n==> installing what drives a browser (npm, once)\n'
    for pause in 2 10 0; do
        # Each step by itself: whoever asks whether this worked switches `set -e` off.
        rm -rf "$folder" && mkdir "$folder" && cp "$browser_lists"/package*.json "$folder/" &&
            npm ci --prefix "$folder" --no-audit --no-fund --ignore-scripts --loglevel error &&
            touch "$folder/ready" && return 0
        sleep "$pause"
    done
    return 1
) >&2
