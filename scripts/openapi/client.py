"""Uses the generated Python client against a server: submit, get, every page of a list, explain, problems, a schedule.

Run by `clients` after its types were checked. Arguments: the server's address and an API key. Says what it did, or fails.
"""

import sys
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

from berth import AuthenticatedClient
from berth.api.schedule import schedule_put
from berth.api.task import task_cancel, task_explain, task_get, task_list, task_submit
from berth.models.command_run import CommandRun
from berth.models.explanation import Explanation
from berth.models.labels import Labels
from berth.models.problem import Problem
from berth.models.problem_code import ProblemCode
from berth.models.reason_due import ReasonDue
from berth.models.reason_due_reason import ReasonDueReason
from berth.models.resources import Resources
from berth.models.run_command import RunCommand
from berth.models.schedule import Schedule
from berth.models.schedule_put import SchedulePut
from berth.models.state import State
from berth.models.task import Task
from berth.models.task_page import TaskPage
from berth.models.task_submit import TaskSubmit
from berth.models.timing import Timing
from berth.models.weekday import Weekday
from berth.models.weekly import Weekly
from berth.models.when_after import WhenAfter
from berth.models.when_at import WhenAt
from berth.models.when_cron import WhenCron
from berth.models.when_daily import WhenDaily
from berth.models.when_every import WhenEvery
from berth.models.when_monthly import WhenMonthly
from berth.models.when_weekly import WhenWeekly
from berth.models.when_yearly import WhenYearly

LABEL = "made-by=python"
When = WhenAfter | WhenAt | WhenCron | WhenDaily | WhenEvery | WhenMonthly | WhenWeekly | WhenYearly


def spec(name: str) -> TaskSubmit:
    """A task whose time comes tomorrow."""
    labels = Labels()
    labels["made-by"] = "python"
    run = RunCommand(command=CommandRun(argv=["true"]))
    resources = Resources(cpu_millis=100, memory_mib=64)
    return TaskSubmit(name=name, run=run, resources=resources, labels=labels, delay="24h")


def submit(client: AuthenticatedClient, name: str) -> Task:
    answer = task_submit.sync_detailed(client=client, body=spec(name), idempotency_key=f"python-{name}")
    assert answer.status_code == HTTPStatus.CREATED, answer.content
    assert isinstance(answer.parsed, Task)
    assert answer.headers["location"] == f"/v1/tasks/{answer.parsed.id}"
    return answer.parsed


def pages(client: AuthenticatedClient) -> list[Task]:
    found: list[Task] = []
    page = task_list.sync(client=client, limit=2, label=[LABEL], state=[State.SCHEDULED, State.READY])
    while True:
        assert isinstance(page, TaskPage), page
        found.extend(page.data)
        if page.next_cursor is None:
            return found
        page = task_list.sync(
            client=client, limit=2, label=[LABEL], state=[State.SCHEDULED, State.READY], cursor=page.next_cursor
        )


def explain(client: AuthenticatedClient, task: Task) -> None:
    explanation = task_explain.sync(task.id, client=client)
    assert isinstance(explanation, Explanation), explanation
    # The first of several is the decisive one; each is of the type that its word says.
    reason = explanation.reasons[0]
    assert isinstance(reason, ReasonDue), reason
    assert reason.reason is ReasonDueReason.DUE
    assert timedelta(hours=23) < reason.at - datetime.now(UTC) < timedelta(hours=25)


def problems(client: AuthenticatedClient, server: str) -> None:
    wrong = spec("")
    answer = task_submit.sync_detailed(client=client, body=wrong)
    problem = answer.parsed
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY and isinstance(problem, Problem), answer.content
    assert problem.code is ProblemCode.VALIDATION_FAILED and not problem.retryable
    assert problem.errors and [error.pointer for error in problem.errors] == ["/name"], problem.errors

    missing = task_get.sync("task_" + "0" * 32, client=client)
    assert isinstance(missing, Problem) and missing.code is ProblemCode.NOT_FOUND, missing

    stranger = AuthenticatedClient(base_url=server, token="berth_test_x")
    refused = task_list.sync(client=stranger)
    assert isinstance(refused, Problem) and refused.code is ProblemCode.UNAUTHENTICATED, refused


def schedule(client: AuthenticatedClient) -> None:
    specs: list[When] = [WhenCron(cron="30 2 * * *"), WhenWeekly(weekly=Weekly(on=[Weekday.MONDAY], at=["09:00"]))]
    task = TaskSubmit(run=RunCommand(command=CommandRun(argv=["true"])))
    put = SchedulePut(timing=Timing(specs=specs, zone="Europe/Berlin"), task=task, paused=True)
    answer = schedule_put.sync_detailed("from.python", client=client, body=put, if_none_match="*")
    assert answer.status_code == HTTPStatus.CREATED, answer.content
    assert isinstance(answer.parsed, Schedule) and isinstance(answer.parsed.timing.specs[0], WhenCron)
    again = schedule_put.sync("from.python", client=client, body=put, if_match='"17"')
    assert isinstance(again, Problem) and again.code is ProblemCode.VERSION_MISMATCH, again


def main(server: str, key: str) -> None:
    client = AuthenticatedClient(base_url=server, token=key)
    made = [submit(client, f"task-{number}") for number in range(5)]
    assert submit(client, "task-0").id == made[0].id, "the same key, the same answer"
    read = task_get.sync(made[0].id, client=client)
    assert isinstance(read, Task) and (read.name, read.state) == ("task-0", State.SCHEDULED), read
    assert isinstance(read.run, RunCommand) and read.run.command.argv == ["true"]
    assert sorted(task.id for task in pages(client)) == sorted(task.id for task in made)
    explain(client, made[0])
    problems(client, server)
    schedule(client)
    for task in made:
        task_cancel.sync(task.id, client=client)
    assert pages(client) == []
    print("python: ok")


main(*sys.argv[1:])
