"""Renders the chart with Helm's own library for each file of tests/values and checks the result. No cluster is needed.

    check.py CHART RENDERED      lints, renders into the folder RENDERED, validates, checks the promises, and that they can break

Called by scripts/infrastructure. Ends with 1 if anything is wrong.
"""

import copy
import re
import sys
from pathlib import Path

import helm_python
import kubernetes_validate
import yaml

import mutations
import promises
import settings

HERE = Path(__file__).resolve().parent
# The oldest version that Chart.yaml allows, and the newest that is known here.
VERSIONS = ["1.31", "1.37"]
# Types that are no part of Kubernetes: no schema is at hand.
FOREIGN = {"PodMonitor"}
# Values that must be refused, and what the answer says.
REFUSED = [
    ({"image": {"repository": ""}}, "repository"),
    ({"api": {"replica": 3}}, "replica"),
    ({"healthPort": 80}, "healthPort"),
    ({"runAsUser": 0}, "runAsUser"),
    ({"pools": {"default": {"drivers": ["command"]}}}, "isolation"),
    ({"pools": {"default": {"drivers": ["shell"]}}}, "drivers"),
    ({"pools": {"default": {"capacity": {"iops": 0}}}}, "iops"),
    ({"pools": {"a-name-that-is-longer-than-pods-can-have-it": {}}}, "propertyName"),
    ({"settings": {"api": {"listen": "0.0.0.0:80"}}}, "set by the chart"),
    ({"settings": {"notifier": {"listen": "0.0.0.0:80"}}}, "set by the chart"),
    ({"notifier": {"egress": {"allow": [{"cidr": "169.254.169.254/32"}]}}}, "cidr"),
    *[({"pools": {"default": {"egress": {"allow": [{"cidr": cidr}]}}}}, "cidr") for cidr in
      ("0.0.0.0/0", "128.0.0.0/1", "169.254.169.254/32", "169.0.0.0/8", "169.254.0.0/15", "::/0", "fd00:ec2::/32", "fd00:ec2::254/128", "fd00::/16")],
]


class Unique(yaml.SafeLoader):
    """Two equal keys in one map are a mistake that YAML keeps silent about."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise yaml.constructor.ConstructorError(None, None, f"key {twice} twice", node.start_mark)
        return super().construct_mapping(node, deep)


def render(chart, values):
    """The objects, as `helm install berth --namespace prod` would make them. The library checks the schema when it is asked to."""
    chart.validate_schema(chart.merge_values(values))
    rendered = chart.render(values, name="berth", namespace="prod")
    texts = [text for path, text in sorted(rendered.items()) if path.endswith(".yaml")]
    return [item for text in texts for item in yaml.load_all(text, Unique) if item]


def schema_problems(item):
    if item["kind"] in FOREIGN:
        return
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(item, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"Kubernetes {version}: {promises.name(item)}: {'.'.join(map(str, error.path))}: {error.message}"


def check_values(chart, path, folder, names, secret):
    """One file of values: its problems and its release."""
    report = helm_python.lint(str(chart.path), yaml.safe_load(path.read_text()), strict=True)
    problems = [message["error"] for message in report["messages"] if message["severity"] > 1] + report["errors"]
    objects = render(chart.chart, yaml.safe_load(path.read_text()))
    (folder / path.name).write_text(yaml.safe_dump_all(objects, sort_keys=False))
    release = promises.Release(objects, names, secret)
    problems += [problem for item in objects for problem in schema_problems(item)]
    problems += [f"{promise}: {problem}" for promise, problem in promises.broken(release)]
    return problems, release


def refusals(chart, secret):
    """Values that are wrong and were accepted. Every secret setting is refused as a plain one."""
    minimal = yaml.safe_load((HERE / "values" / "minimal.yaml").read_text())
    plain = []
    for variable in sorted(secret):
        section, key = variable.removeprefix("BERTH_").lower().split("__")
        plain.append(({"settings": {section: {key: "x"}}}, "is a secret"))
    for values, wanted in REFUSED + plain:
        try:
            render(chart, minimal | values)
            yield f"{values} is accepted"
        except helm_python.HelmError as error:
            if wanted not in str(error):
                yield f"{values} is refused for another reason: {error}"


def unnoticed(release):
    """Mistakes that no promise notices, promises that no mistake tries, and an unknown field that no schema notices."""
    for number, (promise, mutate) in enumerate(mutations.ALL):
        changed = copy.deepcopy(release)
        mutate(changed)
        if promise not in {broken for broken, _ in promises.broken(changed)}:
            yield f"mistake {number} is not noticed by {promise}"
    for promise in {one.__name__ for one in promises.ALL} - {promise for promise, _ in mutations.ALL}:
        yield f"no mistake is made to try {promise}"
    item = copy.deepcopy(release.services()[0])
    item["spec"]["replica"] = 3
    if len(list(schema_problems(item))) != len(VERSIONS):
        yield "an unknown field is not noticed by the schemas"


def unknown_in_templates(chart_path, names):
    """Names in the templates' lists of settings that are no settings."""
    text = (chart_path / "templates" / "_helpers.tpl").read_text()
    for section, key in re.findall(r'"([a-z_]+)\.([a-z_]+)"', text):
        if section != "berth" and settings.variable(section, key) not in names:
            yield f"_helpers.tpl: {section}.{key} is no setting of Berth"


class Loaded:
    def __init__(self, path):
        self.path, self.chart = path, helm_python.Chart.load(str(path))


def main(chart_path, folder):
    names, secret = settings.read()
    loaded = Loaded(chart_path)
    folder.mkdir(parents=True, exist_ok=True)
    problems, releases = {}, {}
    for path in sorted((HERE / "values").glob("*.yaml")):
        try:
            problems[path.name], releases[path.name] = check_values(loaded, path, folder, names, secret)
        except (helm_python.HelmError, yaml.YAMLError) as error:
            problems[path.name] = [str(error)]
    problems["values that must be refused"] = list(refusals(loaded.chart, secret))
    # Mistakes are made in a release without one.
    if not problems["two-pools.yaml"]:
        problems["mistakes that must be noticed"] = list(unnoticed(releases["two-pools.yaml"]))
    problems["templates"] = list(unknown_in_templates(chart_path, names))
    for title, found in problems.items():
        print(f"{'FAILED' if found else 'ok    '}  {title}")
        for problem in found:
            print(f"        {problem}")
    count = sum(len(release.objects) for release in releases.values())
    print(f"Helm {helm_python.helm_sdk_version()}: {len(releases)} releases, {count} objects, schemas of {', '.join(VERSIONS)}, "
          f"{len(promises.ALL)} promises, {len(mutations.ALL)} mistakes noticed, {len(REFUSED) + len(secret)} values refused")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
