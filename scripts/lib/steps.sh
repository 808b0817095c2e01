# shellcheck shell=bash
# Named, timed steps for scripts/check and .ci/run (sourced, bash). The rule: a step that cannot be done here is named
# again at the end as SKIPPED, so that green never means "not looked at".

step_skips=()
step_failures=()

# step NAME COMMAND...: runs on after a failure, so that one run tells all that is wrong.
step() {
    local name=$1 began=$SECONDS
    shift
    printf '\n==> %s\n' "$name" >&2
    if "$@"; then
        printf -- '--> %s: ok, %d s\n' "$name" $((SECONDS - began)) >&2
    else
        printf -- '--> %s: FAILED after %d s\n' "$name" $((SECONDS - began)) >&2
        step_failures+=("$name")
    fi
}

skip() {
    printf '\n==> SKIPPED: %s (%s)\n' "$1" "$2" >&2
    step_skips+=("$1")
}

# Says what was skipped and what failed; fails when anything failed.
steps_end() {
    local name
    printf '\n%s after %d s\n' "$1" "$SECONDS" >&2
    for name in "${step_skips[@]}"; do printf '  SKIPPED %s\n' "$name" >&2; done
    for name in "${step_failures[@]}"; do printf '  FAILED  %s\n' "$name" >&2; done
    [[ ${#step_failures[@]} -eq 0 ]]
}

# have_tool NAME VERSION: a cargo subcommand, installed from the registry when it is missing. Built with little optimisation: that is
# minutes shorter, and what it costs the few seconds that it runs is less.
have_tool() {
    command -v "$1" >/dev/null && return 0
    printf '\n==> installing %s %s (cargo install, once; minutes on two cores)\n' "$1" "$2" >&2
    env CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
        cargo install --locked --quiet "$1@$2"
}

# What runs the tests.
have_nextest() { have_tool cargo-nextest 0.9.143; }
