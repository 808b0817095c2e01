"""Promises of the chart that no schema can show. Each function reads one rendered release and yields what breaks its promise."""

import ipaddress
import re

ROLES = {"api", "scheduler", "resource-manager", "notifier", "executor", "migrate"}
DATABASE = {"BERTH_DATABASE__" + key for key in ("API_URL", "SUBMIT_URL", "ADMIN_URL", "SCHEDULER_URL", "RM_URL", "NOTIFIER_URL")}
# What each role may be given, and no more.
SECRETS = {
    "api": {"BERTH_AUTH__KEY_HASH_SECRET", "BERTH_AUTH__JWT_KEY", "BERTH_AUTH__JWT_PREVIOUS_KEY", "BERTH_DATABASE__API_URL",
            "BERTH_DATABASE__SUBMIT_URL", "BERTH_DATABASE__ADMIN_URL", "BERTH_BUS__URL", "BERTH_REDIS__URL"},
    "scheduler": {"BERTH_DATABASE__SCHEDULER_URL", "BERTH_BUS__URL"},
    "resource-manager": {"BERTH_AUTH__EXECUTOR_SECRET", "BERTH_DATABASE__RM_URL", "BERTH_BUS__URL"},
    "notifier": {"BERTH_DATABASE__NOTIFIER_URL"},
    "executor": {"BERTH_AUTH__EXECUTOR_SECRET"},
    "migrate": {"BERTH_DATABASE__URL"} | DATABASE,
}
# Variables with the URL of an engine, and its ports.
ENGINES = {"Postgres": (r"BERTH_DATABASE__\w*URL", {5432}), "RabbitMQ": ("BERTH_BUS__URL", {5671, 5672}), "Redis": ("BERTH_REDIS__URL", {6379})}
PRIVATE = [ipaddress.ip_network(one) for one in ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16")]
METADATA = [ipaddress.ip_address("169.254.169.254"), ipaddress.ip_address("fd00:ec2::254")]


class Release:
    """The objects of one rendering."""

    def __init__(self, objects, settings, secret):
        self.objects, self.settings, self.secret = objects, settings, secret

    def of(self, *kinds):
        return [item for item in self.objects if item["kind"] in kinds]

    def workloads(self):
        return self.of("Deployment", "StatefulSet", "Job")

    def services(self):
        return self.of("Deployment", "StatefulSet")


def name(item):
    return f"{item['kind']} {item['metadata']['name']}"


def pod(item):
    return item["spec"]["template"]["spec"]


def labels(item):
    return item["spec"]["template"]["metadata"]["labels"]


def role(item):
    return labels(item)["app.kubernetes.io/component"]


def containers(item):
    return pod(item).get("initContainers", []) + pod(item)["containers"]


def environment(item):
    return {entry["name"]: entry for one in containers(item) for entry in one.get("env", [])}


def is_sandbox(item):
    return environment(item).get("BERTH_EXECUTOR__ISOLATION", {}).get("value") == "bubblewrap"


def selects(selector, item):
    return all(labels(item).get(key) == value for key, value in selector.items())


def ports(item):
    return {port["name"] for one in containers(item) for port in one.get("ports", [])}


def all_roles_are_there(release):
    if missing := ROLES - {role(item) for item in release.workloads()}:
        yield f"no workload of {sorted(missing)}"
    if release.of("Secret"):
        yield "the chart makes a Secret"


def nothing_runs_as_root(release):
    for item in release.workloads():
        context = pod(item).get("securityContext", {})
        if context.get("runAsNonRoot") is not True or context.get("runAsUser", 0) < 1000:
            yield f"{name(item)}: the pod may run as root"
        if any(pod(item).get(key) for key in ("hostNetwork", "hostPID", "hostIPC")):
            yield f"{name(item)}: shares a namespace of the node"
        for one in containers(item):
            own = one.get("securityContext", {})
            wanted = {"runAsNonRoot": True, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False, "privileged": False}
            for key, value in wanted.items():
                if own.get(key) is not value:
                    yield f"{name(item)}: {one['name']}: {key} is not {value}"
            if own.get("capabilities") != {"drop": ["ALL"]}:
                yield f"{name(item)}: {one['name']}: keeps capabilities"
            seccomp = own.get("seccompProfile", context.get("seccompProfile", {})).get("type")
            loose = seccomp != "RuntimeDefault" or "appArmorProfile" in own or own.get("procMount", "Default") != "Default"
            if loose != is_sandbox(item):
                yield f"{name(item)}: {one['name']}: looser profiles belong to executors with a sandbox, and to no other pod"
        if is_sandbox(item) and pod(item).get("hostUsers") is not False:
            yield f"{name(item)}: an unmasked /proc needs a user namespace of the pod"


def every_pod_has_probes(release):
    for item in release.services():
        for one in containers(item):
            for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
                call = one.get(probe, {}).get("httpGet", {})
                if call.get("path") != path or call.get("port") not in ports(item):
                    yield f"{name(item)}: {one['name']}: {probe} does not call {path} on one of its ports"


def every_variable_is_a_setting(release):
    for item in release.workloads():
        for one in containers(item):
            names = [entry["name"] for entry in one.get("env", [])]
            for twice in {entry for entry in names if names.count(entry) > 1}:
                yield f"{name(item)}: {twice} is set twice"
            for unknown in set(names) - release.settings:
                yield f"{name(item)}: {unknown} is no setting of Berth (config/default.toml)"


def secrets_are_references_and_few(release):
    for item in release.workloads():
        for key, entry in environment(item).items():
            reference = "secretKeyRef" in entry.get("valueFrom", {})
            if reference != (key in release.secret):
                yield f"{name(item)}: {key} must {'' if key in release.secret else 'not '}come from a Secret"
            if key in release.secret and key not in SECRETS[role(item)] | {"BERTH_TELEMETRY__OTLP_HEADERS"}:
                yield f"{name(item)}: the role {role(item)} must not have {key}"
        if any("envFrom" in one for one in containers(item)):
            yield f"{name(item)}: envFrom hides what the pod is given"
        mounted = {mount["name"]: mount["mountPath"] for one in containers(item) for mount in one.get("volumeMounts", [])}
        for volume in pod(item)["volumes"]:
            path = mounted.get(volume["name"], "no mount")
            if "secret" in volume and not any(entry.get("value", "").startswith(f"{path}/") for entry in environment(item).values()):
                yield f"{name(item)}: has the Secret {volume['secret']['secretName']}, which none of its settings names"
        if role(item) == "executor" and any("secret" in volume for volume in pod(item)["volumes"]):
            yield f"{name(item)}: an executor runs foreign code and mounts a Secret"


def selectors_match(release):
    for item in release.services():
        if not selects(item["spec"]["selector"]["matchLabels"], item):
            yield f"{name(item)}: its selector does not match its pods"
        others = [other for other in release.workloads() if selects(item["spec"]["selector"]["matchLabels"], other)]
        if others != [item]:
            yield f"{name(item)}: its selector matches other pods, too"
        if not any(selects(budget["spec"]["selector"]["matchLabels"], item) for budget in release.of("PodDisruptionBudget")):
            yield f"{name(item)}: no PodDisruptionBudget"
        spread = {entry["topologyKey"] for entry in pod(item).get("topologySpreadConstraints", [])}
        if spread != {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}:
            yield f"{name(item)}: is not spread over zones and nodes"
    for item in release.of("PodDisruptionBudget"):
        if sum(selects(item["spec"]["selector"]["matchLabels"], other) for other in release.services()) != 1:
            yield f"{name(item)}: must match the pods of one workload"
    names = {(item["kind"], item["metadata"]["name"]) for item in release.objects}
    if len(names) != len(release.objects):
        yield "two objects have one name"
    for item in release.of("HorizontalPodAutoscaler"):
        target = item["spec"]["scaleTargetRef"]
        if (target["kind"], target["name"]) not in names:
            yield f"{name(item)}: its target does not exist"
    for item in release.of("StatefulSet"):
        if ("Service", item["spec"]["serviceName"]) not in names:
            yield f"{name(item)}: its service does not exist"


def ports_exist(release):
    for item in release.of("Service"):
        matched = [other for other in release.services() if selects(item["spec"]["selector"], other)]
        if len(matched) != 1:
            yield f"{name(item)}: must match the pods of one workload"
        for port in item["spec"]["ports"]:
            if any(port["targetPort"] not in ports(other) for other in matched):
                yield f"{name(item)}: port {port['targetPort']} does not exist in its pods"
    served = {(item["metadata"]["name"], port["name"]) for item in release.of("Service") for port in item["spec"]["ports"]}
    for item in release.of("Ingress"):
        for rule in item["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                if (backend["name"], backend["port"]["name"]) not in served:
                    yield f"{name(item)}: its backend does not exist"
    for item in release.of("PodMonitor"):
        for endpoint in item["spec"]["podMetricsEndpoints"]:
            matched = [other for other in release.services() if selects(item["spec"]["selector"]["matchLabels"], other)]
            if len(matched) != len(release.services()) or any(endpoint["port"] not in ports(other) for other in matched):
                yield f"{name(item)}: does not scrape all roles"


def accounts_have_no_token(release):
    accounts = {item["metadata"]["name"]: item for item in release.of("ServiceAccount")}
    for item in release.workloads():
        if pod(item).get("serviceAccountName") not in accounts:
            yield f"{name(item)}: its ServiceAccount does not exist"
        if pod(item).get("automountServiceAccountToken") is not False:
            yield f"{name(item)}: mounts a token"
    for item in accounts.values():
        if item.get("automountServiceAccountToken") is not False:
            yield f"{name(item)}: gives a token"


def amount(text):
    """CPU in thousandths, memory in MiB."""
    number, unit = re.fullmatch(r"([0-9.]+)(m|Mi|Gi|)", str(text)).groups()
    return float(number) * {"m": 1, "Mi": 1, "Gi": 1024, "": 1000}[unit]


def resources_are_bounded(release):
    for item in release.workloads():
        for one in containers(item):
            given = one.get("resources", {})
            if not {"cpu", "memory"} <= set(given.get("requests", {})) or "memory" not in given.get("limits", {}):
                yield f"{name(item)}: {one['name']}: no requests of cpu and memory, or no limit of memory"
            elif role(item) == "executor":
                for key, unit in (("CPU_MILLIS", "cpu"), ("MEMORY_MIB", "memory")):
                    offered = int(environment(item)[f"BERTH_EXECUTOR__{key}"]["value"])
                    if not 0 < offered < amount(given["limits"][unit]) == amount(given["requests"][unit]):
                        yield f"{name(item)}: offers {offered} of {unit}, and is not given more than that"


def stops_have_time(release):
    setting = {"api": ("BERTH_API__SHUTDOWN_GRACE", 1, 5), "resource-manager": ("BERTH_RESOURCE_MANAGER__SHUTDOWN_GRACE", 3, 0),
               "executor": ("BERTH_EXECUTOR__DRAIN_GRACE", 1, 4), "scheduler": (None, 0, 10), "notifier": (None, 0, 25)}
    for item in release.services():
        variable, times, more = setting[role(item)]
        needed = more + (times * int(environment(item)[variable]["value"].removesuffix("s")) if variable else 0)
        before = sum(one.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0) for one in containers(item))
        if pod(item)["terminationGracePeriodSeconds"] <= needed + before:
            yield f"{name(item)}: is killed before it has drained ({needed + before} s)"
        if role(item) == "api" and before == 0:
            yield f"{name(item)}: refuses connections before the Service has taken it out"


def executors_list_every_resource_manager(release):
    managers = [item for item in release.of("StatefulSet") if role(item) == "resource-manager"]
    wanted = set()
    for item in managers:
        scheme = "https" if "BERTH_RESOURCE_MANAGER__TLS_CERT_FILE" in environment(item) else "http"
        port = environment(item)["BERTH_RESOURCE_MANAGER__LISTEN"]["value"].split(":")[-1]
        own = item["metadata"]["name"]
        wanted |= {f"{scheme}://{own}-{number}.{item['spec']['serviceName']}.prod.svc:{port}" for number in range(item["spec"]["replicas"])}
    for item in release.services():
        if role(item) == "executor" and set(environment(item)["BERTH_EXECUTOR__RESOURCE_MANAGERS"]["value"].split(",")) != wanted:
            yield f"{name(item)}: does not list every resource manager"


def files_and_folders_exist(release):
    for item in release.workloads():
        volumes = {volume["name"]: volume for volume in pod(item).get("volumes", [])}
        volumes |= {claim["metadata"]["name"]: {"claim": {}} for claim in item["spec"].get("volumeClaimTemplates", [])}
        if any("hostPath" in volume for volume in volumes.values()):
            yield f"{name(item)}: mounts a path of the node"
        for one in containers(item):
            mounts = one.get("volumeMounts", [])
            for mount in mounts:
                source = volumes.get(mount["name"])
                if source is None:
                    yield f"{name(item)}: the volume {mount['name']} does not exist"
                elif not mount.get("readOnly") and not {"emptyDir", "claim"} & set(source):
                    yield f"{name(item)}: {mount['mountPath']} is writable"
            if "/tmp" not in {mount["mountPath"] for mount in mounts}:
                yield f"{name(item)}: no /tmp"
            for key, entry in environment(item).items():
                if key.endswith(("_FILE", "__DATA_DIR")) and not any(entry["value"].startswith(mount["mountPath"] + "/") for mount in mounts):
                    yield f"{name(item)}: {key} names a path that is not mounted"


def listens_can_be_reached(release):
    for item in release.services():
        for one in containers(item):
            numbers = {str(port["containerPort"]) for port in one["ports"]}
            listens = [entry["value"] for entry in one["env"] if entry["name"].endswith("LISTEN")]
            if {listen.split(":")[-1] for listen in listens} != numbers or any(not listen.startswith("0.0.0.0:") for listen in listens):
                yield f"{name(item)}: listens on {listens}, its ports are {sorted(numbers)}"


def networks_are_closed(release):
    policies = release.of("NetworkPolicy")
    for item in release.workloads():
        mine = [policy for policy in policies if selects(policy["spec"]["podSelector"]["matchLabels"], item)]
        if len(mine) != 1 or set(mine[0]["spec"]["policyTypes"]) != {"Ingress", "Egress"}:
            yield f"{name(item)}: must have one NetworkPolicy, for both directions"
    for policy in policies:
        is_executor = policy["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "executor"
        for rule in policy["spec"]["egress"]:
            if not rule.get("to") and (is_executor or not rule.get("ports")):
                yield f"{name(policy)}: may reach everything"
            blocks = [peer["ipBlock"] for peer in rule.get("to", []) if "ipBlock" in peer]
            for block in blocks:
                network = ipaddress.ip_network(block["cidr"])
                except_for = [ipaddress.ip_network(one) for one in block.get("except", [])]
                if any(not one.subnet_of(network) for one in except_for):
                    yield f"{name(policy)}: an exception is no part of {network}"
                for address in METADATA:
                    if address in network and not any(address in one for one in except_for):
                        yield f"{name(policy)}: {network} holds the metadata service {address}"
        if policy["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "resource-manager":
            for rule in policy["spec"]["ingress"]:
                if not rule.get("from"):
                    yield f"{name(policy)}: everybody may reach resource managers"


def engines_are_reached_with_their_secret(release):
    for item in release.services():
        policy = next((one for one in release.of("NetworkPolicy") if selects(one["spec"]["podSelector"]["matchLabels"], item)), None)
        rules = policy["spec"]["egress"] if policy else []
        reached = {port["port"] for rule in rules for port in rule.get("ports", [])}
        for engine, (secret, numbers) in ENGINES.items():
            has = any(re.fullmatch(secret, variable) for variable in environment(item))
            if has != bool(reached & numbers):
                yield f"{name(item)}: {'has the URL of' if has else 'has no URL of'} {engine}, and its network is {'closed' if has else 'open'}"


def internet(policy):
    """Peers of a policy that are all public addresses, by the version of IP, where no port is left out."""
    blocks = [peer["ipBlock"] for rule in policy["spec"]["egress"] if "ports" not in rule for peer in rule.get("to", []) if "ipBlock" in peer]
    found = {"4" if block["cidr"] == "0.0.0.0/0" else "6" for block in blocks if block["cidr"] in ("0.0.0.0/0", "2000::/3")}
    return found, [ipaddress.ip_network(one) for block in blocks for one in block.get("except", [])]


def notifiers_reach_receivers(release):
    for policy in release.of("NetworkPolicy"):
        component = policy["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
        found, closed = internet(policy)
        if component == "notifier" and found != {"4", "6"}:
            yield f"{name(policy)}: does not reach all public addresses, on all ports"
        if component == "notifier" and any(not any(one.subnet_of(other) for other in closed) for one in PRIVATE):
            yield f"{name(policy)}: reaches private addresses, which nobody allowed"
        if component not in ("notifier", "executor") and found:
            yield f"{name(policy)}: reaches the internet, and calls nothing there"


def the_migration_comes_first(release):
    for item in release.of("Job"):
        hooks = item["metadata"].get("annotations", {}).get("helm.sh/hook", "")
        plain = re.search(r"-[0-9a-f]{8}$", item["metadata"]["name"])
        if not plain and not {"pre-install", "pre-upgrade"} <= set(hooks.split(",")):
            yield f"{name(item)}: is neither a hook nor a Job of its own for each version"
        if pod(item).get("restartPolicy") != "Never":
            yield f"{name(item)}: restarts in place"


ALL = [all_roles_are_there, nothing_runs_as_root, every_pod_has_probes, every_variable_is_a_setting, secrets_are_references_and_few,
       selectors_match, ports_exist, accounts_have_no_token, resources_are_bounded, stops_have_time,
       executors_list_every_resource_manager, files_and_folders_exist, listens_can_be_reached, networks_are_closed,
       engines_are_reached_with_their_secret, notifiers_reach_receivers, the_migration_comes_first]


def broken(release):
    """All broken promises, as pairs of the promise and what breaks it."""
    return [(promise.__name__, problem) for promise in ALL for problem in promise(release)]
