# shellcheck shell=bash
# The folders of private engines, for scripts/with-services (sourced, bash).
#
# A run is a folder berth-services.XXXXXXXX with a file `owner`: pid and start time of the process it belongs to. The
# same layout is written by testkit::services. A run whose owner is gone is stale; its processes are those whose
# working directory lies inside the folder, so a process or folder of anyone else can never be taken for one.

# Where new ones are made.
runs_base() {
    local base=${TMPDIR:-/tmp}
    # Engines started by root run as other users, who could not enter a private TMPDIR.
    [[ $EUID -ne 0 ]] || base=/tmp
    (cd "${BERTH_SERVICES_BASE:-$base}" && pwd -P)
}

# Prints a folder in memory, where there is one with room for what tests store. They make and drop a database of 700 files each: on a
# disk's file system that is a sixth of all that they cost.
memory_base() {
    local gib=$((1024 * 1024)) room available
    room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)
    available=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null)
    [[ -w /dev/shm ]] && ((${room:-0} >= 4 * gib && ${available:-0} >= 8 * gib)) && echo /dev/shm
}

# Pid and start time name a process for good; a pid alone is used again.
process_identity() {
    local line fields
    line=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    read -ra fields <<<"${line##*) }"
    [[ ${fields[0]} != Z ]] || return 1
    echo "$1 ${fields[19]}"
}

# new_run VARIABLE: makes a run that belongs to this shell.
new_run() {
    local folder
    folder=$(mktemp -d "$(runs_base)/berth-services.XXXXXXXX")
    chmod 755 "$folder"
    process_identity $$ >"$folder/owner.new"
    mv "$folder/owner.new" "$folder/owner"
    printf -v "$1" '%s' "$folder"
}

# Processes whose working directory is inside the folder.
processes_in() {
    local link target
    for link in /proc/[0-9]*/cwd; do
        target=$(readlink "$link" 2>/dev/null) || continue
        if [[ $target == "$1" || $target == "$1"/* ]]; then
            link=${link%/cwd}
            echo "${link#/proc/}"
        fi
    done
}

end_run() {
    local folder=$1 pid round
    [[ ${folder##*/} == berth-services.* && -d $folder && ! -L $folder ]] || return 0
    for round in 1 2 3; do
        for pid in $(processes_in "$folder"); do
            [[ $pid -eq $$ ]] || kill -KILL "$pid" 2>/dev/null || true
        done
        rm -rf "$folder" 2>/dev/null && return 0
        sleep "0.$round"
    done
    echo "with-services: could not remove $folder" >&2
}

end_stale_runs() {
    local folder owner
    for folder in "$(runs_base)"/berth-services.* "$(BERTH_SERVICES_BASE='' runs_base)"/berth-services.* /dev/shm/berth-services.*; do
        [[ -d $folder && ! -L $folder && -O $folder ]] || continue
        if [[ -r $folder/owner ]]; then
            owner=$(<"$folder/owner")
            [[ $(process_identity "${owner%% *}" || true) == "$owner" ]] && continue
        else
            # Perhaps being made this very moment.
            [[ -n $(find "$folder" -maxdepth 0 -mmin +1) ]] || continue
        fi
        echo "with-services: removing what a crashed run left in $folder" >&2
        end_run "$folder"
    done
}

# A port nobody listens on, below the range the kernel hands out for outgoing connections.
free_port() {
    local candidate
    while :; do
        candidate=$((15000 + (RANDOM * 32768 + RANDOM) % 17000))
        [[ -n $(listening_inodes "$candidate") ]] || break
    done
    echo "$candidate"
}

listening_inodes() {
    awk -v port="$(printf '%04X' "$1")" '$4 == "0A" && substr($2, length($2) - 4) == ":" port { print $10 }' \
        /proc/net/tcp /proc/net/tcp6 2>/dev/null || true
}

# A port that answers is no proof that our engine answers: the socket must be held by our child.
owns_port() {
    local inode link
    for inode in $(listening_inodes "$2"); do
        for link in "/proc/$1/fd"/*; do
            [[ $(readlink "$link" 2>/dev/null || true) != "socket:[$inode]" ]] || return 0
        done
    done
    return 1
}

# answers KIND PORT: the engine itself speaks, not only its socket.
answers() {
    local greeting='' reply='' expected=' ' peer
    case $1 in
    postgres)
        # A StartupMessage. "Starting up" comes back as an error (E), a question for the password (R) means ready.
        greeting='\x00\x00\x00\x13\x00\x03\x00\x00user\x00none\x00\x00' expected=R
        ;;
    rabbitmq) greeting='AMQP\x00\x00\x09\x01' ;;
    redis) greeting='PING\r\n' expected=- ;;
    esac
    exec {peer}<>"/dev/tcp/127.0.0.1/$2" || return 1
    # shellcheck disable=SC2059
    printf "$greeting" >&"$peer"
    reply=$(timeout 2 head -c 1 <&"$peer" | tr '\001' ' ' || true)
    exec {peer}>&-
    [[ $reply == "$expected" ]]
}

# wait_gone SECONDS PID: whether the process has ended (a zombie has).
wait_gone() {
    local deadline=$((SECONDS + $1))
    while process_identity "$2" >/dev/null; do
        ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}
