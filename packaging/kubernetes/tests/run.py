"""Runs the pods of a rendered release as processes of this machine: their arguments, variables, users and times, no cluster.

    run.py BERTH RENDERED.yaml      needs BERTH_TEST_DATABASE_URL and BERTH_TEST_AMQP_URL (scripts/with-services), psql, and root

Migrates, starts each pod on a loopback address of its own, calls its probes, runs a command in each of the
pools `commands` (sandbox) and `trusted` (none), and stops each pod within its grace. Called by `scripts/infrastructure run`. What a cluster adds is not tried:
admission, networks, volumes, profiles.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit

import yaml

# Values of the Secrets, by key.
LOGINS = {"api-url": "berth_api", "submit-url": "berth_submit", "admin-url": "berth_admin", "scheduler-url": "berth_scheduler",
          "rm-url": "berth_rm", "notifier-url": "berth_notifier"}
START_S = 60


class Machine:
    """Where all pods run: a folder, the program, and the engines."""

    def __init__(self, berth):
        self.folder = Path(tempfile.mkdtemp(prefix="berth-pods-"))
        self.folder.chmod(0o755)
        # Where other users can read it.
        self.berth = self.folder / "berth"
        shutil.copy(berth, self.berth)
        owner = os.environ["BERTH_TEST_DATABASE_URL"]
        database = f"chart_{token_hex(4)}"
        subprocess.run(["psql", "-q", owner, "-c", f"create database {database}"], check=True)
        server = urlsplit(owner)
        self.secrets = {"owner-url": server._replace(path=f"/{database}").geturl(), "url": os.environ["BERTH_TEST_AMQP_URL"]}
        for key, login in LOGINS.items():
            place = f"{login}:{token_hex(16)}@{server.hostname}:{server.port}"
            self.secrets[key] = server._replace(netloc=place, path=f"/{database}").geturl()

    def secret(self, key):
        return self.secrets.setdefault(key, token_hex(32))


class Pod:
    """One pod as a process."""

    def __init__(self, machine, item, name, number):
        self.name, self.address, self.machine = name, f"127.0.1.{number}", machine
        self.spec = item["spec"]["template"]["spec"]
        self.container = self.spec["containers"][0]
        self.process = None

    def start(self, hosts):
        user = str(self.spec["securityContext"]["runAsUser"])
        self.data = self.machine.folder / self.name
        self.data.mkdir()
        os.chown(self.data, int(user), int(user))
        self.log = (self.machine.folder / f"{self.name}.log").open("wb")
        # As in the container: no capabilities, none to be gained.
        bounds = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
        arguments = bounds + [str(self.machine.berth)] + self.container["args"]
        self.process = subprocess.Popen(arguments, env=self.environment(hosts), stdout=self.log, stderr=self.log, cwd=self.data)

    def environment(self, hosts):
        found = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
        for entry in self.container["env"]:
            source = entry.get("valueFrom", {})
            if "secretKeyRef" in source:
                value = self.machine.secret(source["secretKeyRef"]["key"])
            elif "fieldRef" in source:
                value = self.name
            else:
                value = entry["value"].replace("0.0.0.0:", f"{self.address}:").replace("/var/lib/berth", str(self.data))
                for host, address in hosts.items():
                    value = value.replace(f"//{host}:", f"//{address}:")
            found[entry["name"]] = value
        return found

    def port(self, name):
        return next(port["containerPort"] for port in self.container["ports"] if port["name"] == name)

    def wait_for(self, probe):
        call = self.container[probe]["httpGet"]
        url, until = f"http://{self.address}:{self.port(call['port'])}{call['path']}", time.monotonic() + START_S
        while self.process.poll() is None and time.monotonic() < until:
            try:
                if urllib.request.urlopen(url, timeout=3).status == 200:
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                pass
            time.sleep(0.1)
        raise SystemExit(f"{self.name}: no answer to its {probe}:\n{Path(self.log.name).read_text()[-2000:]}")

    def stop(self):
        grace, began = self.spec["terminationGracePeriodSeconds"], time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=grace)
        print(f"  {self.name}: ended with {code} after {time.monotonic() - began:.1f} s of {grace} s")
        if code != 0:
            raise SystemExit(f"{self.name}: did not drain")


def pods(machine, objects):
    """Of each workload all its pods, by name; and the names of hosts that lead to them."""
    found, hosts = {}, {}
    for item in objects:
        if item["kind"] not in ("Deployment", "StatefulSet", "Job"):
            continue
        for number in range(item["spec"].get("replicas", 1)):
            name = f"{item['metadata']['name']}-{number}"
            found[name] = Pod(machine, item, name, len(found) + 1)
            hosts[f"{name}.{item['spec'].get('serviceName')}.prod.svc"] = found[name].address
    return found, hosts


def main(berth, rendered):
    machine = Machine(berth)
    found, hosts = pods(machine, [item for item in yaml.safe_load_all(rendered.read_text()) if item])
    migrations = [pod for name, pod in found.items() if "-migrate-" in name]
    roles = [pod for name, pod in found.items() if "-migrate-" not in name]
    try:
        for pod in migrations:
            pod.start(hosts)
            if pod.process.wait(timeout=300) != 0:
                raise SystemExit(f"{pod.name}: {Path(pod.log.name).read_text()[-2000:]}")
        for pod in roles:
            pod.start(hosts)
        for pod in roles:
            pod.wait_for("startupProbe")
        api = found["berth-api-0"]
        server = f"http://{api.address}:{api.port('http')}"
        environment = {"BERTH_SERVER": server, "HOME": str(machine.folder), "PATH": os.environ["PATH"]}

        def command(*arguments, **more):
            answer = subprocess.run([str(machine.berth), *arguments], env=environment | more, capture_output=True, text=True, timeout=30)
            if answer.returncode != 0:
                raise SystemExit(f"berth {' '.join(arguments)}: {answer.returncode}\n{answer.stdout}{answer.stderr}")
            return answer.stdout.split()

        first = ["--first", "--name", "first", "--scope", "read", "--scope", "admin"]
        environment["BERTH_OPERATOR_KEY"] = command("admin", "operator-key", "create", *first, **api.environment(hosts))[-1]
        for pool in ("web", "commands", "trusted"):
            command("admin", "pool", "set", pool, "--everyone", "on")
        for pod in roles:
            pod.wait_for("readinessProbe")
        print(f"  {len(roles)} pods are ready")
        command("admin", "tenant", "create", "acme")
        scopes = ["--scope", "submit", "--scope", "read"]
        environment["BERTH_API_KEY"] = command("admin", "key", "create", "--tenant", "acme", "--name", "test", *scopes)[-1]
        for pool, wanted in (("commands", "from the sandbox"), ("trusted", "without one")):
            task = command("submit", "--pool", pool, "--", "sh", "-c", f"echo {wanted}")[0]
            try:
                command("watch", task)
            except subprocess.TimeoutExpired:
                raise SystemExit(f"the task of {pool} does not run: {' '.join(command('explain', task))}") from None
            said = " ".join(command("logs", task))
            if said != wanted:
                raise SystemExit(f"the task of {pool} said {said!r}")
            print(f"  a command of the pool {pool} ran: {said}")
        for pod in roles:
            pod.stop()
    finally:
        for pod in found.values():
            if pod.process and pod.process.poll() is None:
                pod.process.kill()
        shutil.rmtree(machine.folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
