"""Mistakes that the promises must notice: each is made in a good release, and the promise named must break."""

from promises import environment, pod, role


def of_role(release, wanted):
    return next(item for item in release.workloads() if role(item) == wanted)


def container(release, wanted):
    return pod(of_role(release, wanted))["containers"][0]


def of_kind(release, kind, ending=""):
    return next(item for item in release.of(kind) if item["metadata"]["name"].endswith(ending))


def sandbox(release):
    return next(item for item in release.workloads() if environment(item).get("BERTH_EXECUTOR__ISOLATION", {}).get("value") == "bubblewrap")


def put(item, key, value):
    item[key] = value


def without(item, key):
    del item[key]


def set_variable(one, variable, value):
    one["env"] = [entry for entry in one["env"] if entry["name"] != variable] + [{"name": variable, "value": value}]


def open_egress(release, rule, ending="executor-web"):
    of_kind(release, "NetworkPolicy", ending)["spec"]["egress"].append(rule)


ALL = [
    ("all_roles_are_there", lambda r: r.objects.append({"kind": "Secret", "metadata": {"name": "x"}})),
    ("all_roles_are_there", lambda r: r.objects.remove(of_role(r, "scheduler"))),
    ("nothing_runs_as_root", lambda r: without(pod(of_role(r, "api"))["securityContext"], "runAsNonRoot")),
    ("nothing_runs_as_root", lambda r: put(pod(of_role(r, "migrate"))["securityContext"], "runAsUser", 0)),
    ("nothing_runs_as_root", lambda r: put(container(r, "scheduler")["securityContext"], "readOnlyRootFilesystem", False)),
    ("nothing_runs_as_root", lambda r: put(container(r, "executor")["securityContext"], "capabilities", {"drop": ["ALL"], "add": ["SYS_ADMIN"]})),
    ("nothing_runs_as_root", lambda r: put(container(r, "api")["securityContext"], "seccompProfile", {"type": "Unconfined"})),
    ("nothing_runs_as_root", lambda r: without(pod(sandbox(r)), "hostUsers")),
    ("every_pod_has_probes", lambda r: without(container(r, "resource-manager"), "readinessProbe")),
    ("every_pod_has_probes", lambda r: put(container(r, "api")["livenessProbe"]["httpGet"], "port", "metrics")),
    ("every_pod_has_probes", lambda r: put(container(r, "notifier")["startupProbe"]["httpGet"], "path", "/readyz")),
    ("every_variable_is_a_setting", lambda r: set_variable(container(r, "api"), "BERTH_API__LISTENS", "x")),
    ("every_variable_is_a_setting", lambda r: container(r, "api")["env"].append(container(r, "api")["env"][0])),
    ("secrets_are_references_and_few", lambda r: set_variable(container(r, "scheduler"), "BERTH_BUS__URL", "amqp://a:b@c")),
    ("secrets_are_references_and_few", lambda r: container(r, "executor")["env"].append(
        {"name": "BERTH_AUTH__KEY_HASH_SECRET", "valueFrom": {"secretKeyRef": {"name": "berth-auth", "key": "k"}}})),
    ("secrets_are_references_and_few", lambda r: pod(of_role(r, "executor"))["volumes"].append({"name": "x", "secret": {"secretName": "y"}})),
    ("secrets_are_references_and_few", lambda r: container(r, "notifier")["env"].append(
        {"name": "BERTH_BUS__URL", "valueFrom": {"secretKeyRef": {"name": "berth-bus", "key": "url"}}})),
    ("secrets_are_references_and_few", lambda r: pod(of_role(r, "notifier"))["volumes"].append({"name": "bus", "secret": {"secretName": "y"}})),
    ("selectors_match", lambda r: put(of_role(r, "api")["spec"]["selector"]["matchLabels"], "app.kubernetes.io/component", "apis")),
    ("selectors_match", lambda r: without(of_kind(r, "StatefulSet", "executor-web")["spec"]["selector"]["matchLabels"], "berth/pool")),
    ("selectors_match", lambda r: r.objects.remove(of_kind(r, "PodDisruptionBudget", "executor-web"))),
    ("selectors_match", lambda r: without(pod(of_role(r, "api")), "topologySpreadConstraints")),
    ("selectors_match", lambda r: put(of_role(r, "resource-manager")["spec"], "serviceName", "other")),
    ("ports_exist", lambda r: put(of_kind(r, "Service", "-api")["spec"]["ports"][0], "targetPort", "https")),
    ("ports_exist", lambda r: put(of_kind(r, "Service", "resource-manager")["spec"], "selector", {"a": "b"})),
    ("accounts_have_no_token", lambda r: without(pod(of_role(r, "executor")), "automountServiceAccountToken")),
    ("accounts_have_no_token", lambda r: r.objects.remove(of_kind(r, "ServiceAccount", "migrate"))),
    ("resources_are_bounded", lambda r: without(container(r, "migrate"), "resources")),
    ("resources_are_bounded", lambda r: set_variable(container(r, "executor"), "BERTH_EXECUTOR__MEMORY_MIB", "999999")),
    ("stops_have_time", lambda r: put(pod(of_role(r, "resource-manager")), "terminationGracePeriodSeconds", 30)),
    ("stops_have_time", lambda r: without(container(r, "api"), "lifecycle")),
    ("stops_have_time", lambda r: put(pod(of_role(r, "notifier")), "terminationGracePeriodSeconds", 25)),
    ("executors_list_every_resource_manager", lambda r: put(of_role(r, "resource-manager")["spec"], "replicas", 9)),
    ("files_and_folders_exist", lambda r: put(container(r, "executor")["volumeMounts"][0], "name", "nothing")),
    ("files_and_folders_exist", lambda r: set_variable(container(r, "api"), "BERTH_API__TLS_CERT_FILE", "/etc/tls.crt")),
    ("files_and_folders_exist", lambda r: pod(of_role(r, "api"))["volumes"].append({"name": "x", "hostPath": {"path": "/"}})),
    ("listens_can_be_reached", lambda r: set_variable(container(r, "scheduler"), "BERTH_SCHEDULER__LISTEN", "127.0.0.1:9090")),
    ("networks_are_closed", lambda r: r.objects.remove(of_kind(r, "NetworkPolicy", "scheduler"))),
    ("networks_are_closed", lambda r: open_egress(r, {"ports": [{"protocol": "TCP", "port": 443}]})),
    ("networks_are_closed", lambda r: open_egress(r, {"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]})),
    ("networks_are_closed", lambda r: without(of_kind(r, "NetworkPolicy", "resource-manager")["spec"]["ingress"][1], "from")),
    ("networks_are_closed", lambda r: open_egress(r, {"to": [{"ipBlock": {"cidr": "169.254.0.0/16"}}]}, "notifier")),
    ("networks_are_closed", lambda r: open_egress(r, {}, "notifier")),
    ("engines_are_reached_with_their_secret", lambda r: open_egress(r, {"ports": [{"protocol": "TCP", "port": 5671}]}, "notifier")),
    ("engines_are_reached_with_their_secret", lambda r: of_kind(r, "NetworkPolicy", "scheduler")["spec"]["egress"].pop()),
    ("notifiers_reach_receivers", lambda r: of_kind(r, "NetworkPolicy", "notifier")["spec"]["egress"].pop()),
    ("notifiers_reach_receivers", lambda r: of_kind(r, "NetworkPolicy", "notifier")["spec"]["egress"][-1].update(ports=[{"port": 443}])),
    ("notifiers_reach_receivers", lambda r: without(of_kind(r, "NetworkPolicy", "notifier")["spec"]["egress"][-1]["to"][0]["ipBlock"], "except")),
    ("notifiers_reach_receivers", lambda r: open_egress(r, {"to": [{"ipBlock": {"cidr": "2000::/3"}}]}, "scheduler")),
    ("the_migration_comes_first", lambda r: put(of_role(r, "migrate")["metadata"], "name", "berth-migrate")),
]
