// The memory of a server from TypeScript: append a turn, ask for it, and follow changes.
// Types come from the server's OpenAPI document; nothing here is written by hand for an operation.
import createClient from "openapi-fetch";
import type { components, paths } from "./mnemos.js";

type Change = components["schemas"]["ChangeInfo"];

const url = process.env["MNEMOS_URL"] ?? "http://127.0.0.1:8765";
const token = process.env["MNEMOS_TOKEN"] ?? "";
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });

/** Return the value of an answer, or throw the error that the server reported. */
function read<T>(answer: { data?: T; error?: components["schemas"]["Error"] }): T {
  if (answer.data === undefined) {
    const { code, message } = answer.error?.error ?? { code: "unavailable", message: "no answer" };
    throw new Error(`${code}: ${message}`);
  }
  return answer.data;
}

/** Store a turn of a conversation, all of it or nothing, and return the ids of its messages. */
async function append(session: string, question: string, reply: string): Promise<number[]> {
  read(await client.POST("/v1/sessions_create", { body: { session_id: session, source: "typescript", ensure: true } }));
  const messages = [
    { role: "user", content: question },
    { role: "assistant", content: reply },
  ];
  return read(await client.POST("/v1/sessions_append", { body: { session_id: `session:${session}`, messages } }))
    .message_ids;
}

/** Return the passages that answer a question, best first. */
async function recall(query: string): Promise<components["schemas"]["HitInfo"][]> {
  return read(await client.POST("/v1/recall", { body: { query, limit: 3 } })).hits;
}

/** Yield changes as they are made, also by other programs, after the cursor of an earlier one. */
async function* follow(since: string): AsyncGenerator<Change> {
  const headers = { Authorization: `Bearer ${token}`, Accept: "text/event-stream", "Last-Event-ID": since };
  const answer = await fetch(`${url}/v1/events`, { headers });
  if (!answer.ok || answer.body === null) throw new Error(`events: status ${answer.status}`);
  let rest = "";
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const name = /^event: (.*)$/m.exec(event)?.[1];
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (name === "end") return;
      if (name !== undefined && name !== "ready" && data !== undefined) yield JSON.parse(data) as Change;
    }
  }
}

const before = read(await client.POST("/v1/changes", { body: { limit: 1 } })).cursor;
const ids = await append("trip", "How do we get to Lisbon?", "By the morning train, it is booked 🚆");
console.log(`stored ${ids.length} messages`);
for (const hit of await recall("which train did we book?")) {
  console.log(`${hit.speaker}: ${hit.text}`);
}
for await (const change of follow(before)) {
  console.log(`${change.action} ${change.kind}`);
  if (change.ref === `message:${ids.at(-1)}`) break;
}
const wrong = await client.POST("/v1/sessions_show", { body: { session: "nowhere" } });
console.log(`error ${wrong.error?.error.code}`);
