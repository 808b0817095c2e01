#!/usr/bin/env bash
# openapi-python-client 0.29.1: a property that is an object or null (`"type": ["object", "null"]`, as OpenAPI 3.1 says it) and has the
# default `{}` takes its whole schema away. What refers to that schema goes as well: models, and the body of each operation that uses them.
# The generator says so in a warning, writes a package without them, and ends with 0. With the same schema and no default all is there.
#
# It matters where a build generates a client and looks at the exit code: the client compiles, and a call is missing that the
# document has. Berth's document gives such properties no default, and a test generates this client and calls what it needs.
#
# Exits 0 while the behaviour is as described, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" -q install openapi-python-client==0.29.1
document() { # document DEFAULT
    cat <<JSON
{"openapi": "3.1.0", "info": {"title": "Jobs", "version": "1"}, "paths": {"/jobs": {"post": {"operationId": "submit",
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"\$ref": "#/components/schemas/Job"}}}},
  "responses": {"204": {"description": "Stored"}}}}},
 "components": {"schemas": {"Job": {"type": "object", "properties": {"run": {"\$ref": "#/components/schemas/Run"}}},
  "Run": {"type": "object", "properties": {"sleep": {"type": ["object", "null"] $1}}}}}}
JSON
}
made() { # made NAME DEFAULT: the models and operations of the client, and the generator's exit code
    document "$2" >"$folder/$1.json"
    local code=0
    "$folder/venv/bin/openapi-python-client" generate --path "$folder/$1.json" --output-path "$folder/$1" --meta none \
        >"$folder/$1.log" 2>&1 || code=$?
    (cd "$folder/$1" && find models api -name '*.py' ! -name '__init__.py' | sort | tr '\n' ' ')
    echo "exit $code"
}
without=$(made without '')
with=$(made with ', "default": {}')
echo "openapi-python-client 0.29.1"
echo "no default:   $without"
echo "default {}:   $with"
grep -i -m1 'warning' "$folder/with.log" || true
[[ $without == *models/job.py*models/run.py* && $without == *submit.py* && $without == *'exit 0' ]]
[[ $with != *models/run.py* && $with == *'exit 0' ]]
