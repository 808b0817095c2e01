// Uses the generated TypeScript client against a server: submit, get, every page of a list, explain, problems, a schedule.
//
// Run by `clients` after its types were checked. Arguments: the server's address and an API key. Says what it did, or fails.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

type Task = components["schemas"]["Task"];
type TaskSubmit = components["schemas"]["TaskSubmit"];
type Client = ReturnType<typeof createClient<paths>>;

const [server = "", key = ""] = process.argv.slice(2);
const label = ["made-by=typescript"];

/** A task whose time comes tomorrow. */
function spec(name: string): TaskSubmit {
  return {
    name,
    run: { command: { argv: ["true"] } },
    resources: { cpu_millis: 100, memory_mib: 64 },
    labels: { "made-by": "typescript" },
    delay: "24h",
  };
}

async function submit(client: Client, name: string): Promise<Task> {
  const header = { "Idempotency-Key": `typescript-${name}` };
  const { data, error, response } = await client.POST("/v1/tasks", { params: { header }, body: spec(name) });
  assert(data !== undefined, JSON.stringify(error));
  assert.equal(response.status, 201);
  assert.equal(response.headers.get("location"), `/v1/tasks/${data.id}`);
  return data;
}

async function pages(client: Client): Promise<Task[]> {
  const found: Task[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 2, label, state: ["scheduled" as const, "ready" as const], ...(cursor && { cursor }) };
    const { data, error } = await client.GET("/v1/tasks", { params: { query } });
    assert(data !== undefined, JSON.stringify(error));
    found.push(...data.data);
    cursor = data.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

async function explain(client: Client, id: string): Promise<void> {
  const { data, error } = await client.GET("/v1/tasks/{id}/explain", { params: { path: { id } } });
  assert(data !== undefined, JSON.stringify(error));
  const [reason] = data.reasons;
  assert(reason?.reason === "due");
  // The word tells which fields there are.
  const hours = (Date.parse(reason.at) - Date.now()) / 3_600_000;
  assert(23 < hours && hours < 25, reason.at);
}

async function problems(client: Client): Promise<void> {
  const wrong = await client.POST("/v1/tasks", { body: spec("") });
  assert.equal(wrong.response.status, 422);
  assert(wrong.error !== undefined);
  assert.deepEqual([wrong.error.code, wrong.error.retryable], ["validation_failed", false]);
  assert.deepEqual(wrong.error.errors?.map((each) => each.pointer), ["/name"]);

  const path = { id: `task_${"0".repeat(32)}` };
  const missing = await client.GET("/v1/tasks/{id}", { params: { path } });
  assert.equal(missing.error?.code, "not_found");

  const stranger = createClient<paths>({ baseUrl: server, headers: { Authorization: "Bearer berth_test_x" } });
  const refused = await stranger.GET("/v1/tasks");
  assert.equal(refused.error?.code, "unauthenticated");
}

async function schedule(client: Client): Promise<void> {
  const params = { path: { name: "from.typescript" } };
  const body = {
    timing: { specs: [{ cron: "30 2 * * *" }, { monthly: { on: [1, "last" as const], at: ["09:00"] } }] },
    task: { run: { http: { url: "https://example.com/hook" } } },
    misfire: { catch_up: { count: 2, max_age: "24h" } },
    paused: true,
  };
  const header = { "If-None-Match": "*" };
  const made = await client.PUT("/v1/schedules/{name}", { params: { ...params, header }, body });
  assert.equal(made.response.status, 201, JSON.stringify(made.error));
  const again = await client.PUT("/v1/schedules/{name}", { params: { ...params, header: { "If-Match": '"17"' } }, body });
  assert.equal(again.error?.code, "version_mismatch");
}

const client = createClient<paths>({ baseUrl: server, headers: { Authorization: `Bearer ${key}` } });
const made: Task[] = [];
for (let number = 0; number < 5; number += 1) {
  made.push(await submit(client, `task-${number}`));
}
const [first] = made;
assert(first !== undefined);
assert.equal((await submit(client, "task-0")).id, first.id, "the same key, the same answer");
const read = await client.GET("/v1/tasks/{id}", { params: { path: { id: first.id } } });
assert.deepEqual([read.data?.name, read.data?.state], ["task-0", "scheduled"]);
assert(read.data?.run && "command" in read.data.run);
assert.deepEqual(read.data.run.command.argv, ["true"]);
assert.deepEqual((await pages(client)).map((task) => task.id).sort(), made.map((task) => task.id).sort());
await explain(client, first.id);
await problems(client);
await schedule(client);
for (const { id } of made) {
  await client.POST("/v1/tasks/{id}/cancel", { params: { path: { id } } });
}
assert.deepEqual(await pages(client), []);
console.log("typescript: ok");
