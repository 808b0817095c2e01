# shellcheck shell=bash
# An empty Debian, and a container engine without a registry, for packaging/test (sourced, bash, as root).

suite=bookworm
# Of the second machine in the tests: a network namespace with one cable to this one.
cable=berthpk0 here_address=10.213.77.1 there_address=10.213.77.2

# empty_debian NAME PACKAGE...: puts the path of an archive of it into `debian`; a minute, once. Fails where it cannot be had.
empty_debian() {
    local name=$1 cache=${XDG_CACHE_HOME:-$HOME/.cache}/berth root
    shift
    debian=$cache/debian-$suite-$name-$(printf '%s\n' "$@" | sha256sum | head -c 8).tar
    [[ ! -e $debian ]] || return 0
    mkdir -p "$cache"
    root=$(mktemp -d "${TMPDIR:-/tmp}/berth-debian.XXXXXXXX")
    printf '\n==> debootstrap %s (%s), once\n' "$suite" "$*" >&2
    local include
    include=$(IFS=,; echo "$*")
    if PATH=$PATH:/usr/sbin debootstrap --variant=minbase ${include:+--include="$include"} "$suite" "$root" \
        "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1; then
        rm -f "$root"/var/cache/apt/archives/*.deb
        tar -C "$root" -cf "$debian.new" . && mv "$debian.new" "$debian"
    else
        tail -5 "$root.log" >&2
    fi
    rm -rf "$root" "$root.log"
    [[ -e $debian ]]
}

# What podman needs on this machine; fails where it can run no container. $1: an image with /bin/true.
podman_flags=() run_flags=()
find_podman() {
    # Version 1 of control groups: without systemd on this machine, and not by crun.
    if [[ $(stat -fc %T /sys/fs/cgroup) != cgroup2fs ]]; then podman_flags=(--cgroup-manager=cgroupfs --runtime runc); fi
    pod run --rm --entrypoint /bin/true "$1" >/dev/null 2>&1 && return 0
    # Where this process itself may not raise limits.
    run_flags=(--ulimit nofile=1024:1024 --ulimit nproc=100:100)
    pod run --rm --entrypoint /bin/true "$1" >/dev/null
}

# Of its warnings one is about version 1 of control groups, at every call.
pod() {
    local command=$1
    shift
    if [[ $command == run ]]; then set -- "${run_flags[@]}" "$@"; fi
    podman "${podman_flags[@]}" --log-level=error "$command" "$@"
}

# boots NAME IMAGE FLAGS...: a container with systemd as its first process.
boots() {
    local name=$1 image=$2 deadline=$((SECONDS + 30)) cgroups=()
    shift 2
    if [[ $(stat -fc %T /sys/fs/cgroup) != cgroup2fs ]]; then cgroups=(-v /sys/fs/cgroup:/sys/fs/cgroup:rw); fi
    pod run --detach --name "$name" --systemd=always --privileged "${cgroups[@]}" "$@" "$image" /sbin/init >/dev/null || return 1
    until [[ $(pod exec "$name" systemctl is-system-running 2>/dev/null) =~ ^(running|degraded)$ ]]; do
        ((SECONDS < deadline)) || return 1
        sleep 0.2
    done
}

# second_machine NAME: makes the network namespace and its cable.
second_machine() {
    ip netns add "$1" && ip link add "$cable" type veth peer name eth0 netns "$1" &&
        ip addr add "$here_address/30" dev "$cable" && ip link set "$cable" up &&
        ip -n "$1" addr add "$there_address/30" dev eth0 && ip -n "$1" link set eth0 up && ip -n "$1" link set lo up
}

# wait_for SECONDS WHAT COMMAND...
wait_for() {
    local deadline=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)); then
            echo "$what: not within its time" >&2
            return 1
        fi
        sleep 0.1
    done
}

# Prints how many milliseconds a command takes; its own output goes to standard error.
milliseconds() {
    local began=${EPOCHREALTIME/./}
    "$@" >&2 || return 1
    echo $(((${EPOCHREALTIME/./} - began) / 1000))
}

# within BAR_MS MEASURED_MS WHAT: prints the figure; over the bar `late` is set, for the end.
late=0
within() {
    printf 'figure: %s: %s ms (bar %s ms)\n' "$3" "$2" "$1"
    (($2 <= $1)) || late=1
}
