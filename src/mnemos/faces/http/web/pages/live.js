// Messages and questions of agents, as they happen. One stream per browser: the tab that has the lock reads it for all.
import { can, rights, useCall } from "../core.js";
import { listen, placeOf } from "../forms.js";
import { Empty, Line, Tabs, Time, plural } from "../ui.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";

const MOST = 500;
const KINDS = [["", "all"], ["message", "messages"], ["session", "conversations"], ["fact", "facts"], ["note", "notes"], ["entry", "entries"], ["table", "tables"], ["recall", "recalls"]];

async function follow(channel, add, say, signal) {
  let last = null;
  while (!signal.aborted) {
    try {
      for await (const one of listen("/v1/events", { signal, last })) {
        if (one.id) last = one.id;
        if (one.event === "end") break;
        say("live");
        if (!one.data?.kind) continue;
        add(one.data);
        channel.postMessage(one.data);
      }
    } catch {
      if (signal.aborted) return;
    }
    say("waiting");
    await new Promise((resolve) => setTimeout(resolve, 1500));
  }
}

function useEvents(pause) {
  const [rows, set] = useState([]);
  const [status, say] = useState("waiting");
  const held = useRef(pause);
  held.current = pause;
  useEffect(() => {
    const channel = new BroadcastChannel(`mnemos ${rights.space}`);
    const add = (one) => !held.current && set((old) => [one, ...old].slice(0, MOST));
    channel.onmessage = ({ data }) => (say("live"), add(data));
    let release;
    const begin = () => {
      if (document.hidden || release) return;
      const own = new AbortController();
      release = own;
      navigator.locks.request(`mnemos ${rights.space}`, { signal: own.signal }, () => (say("live"), follow(channel, add, say, own.signal))).catch(() => {});
    };
    const change = () => {
      if (document.hidden) {
        release?.abort();
        release = null;
      } else begin();
    };
    begin();
    document.addEventListener("visibilitychange", change);
    return () => {
      document.removeEventListener("visibilitychange", change);
      release?.abort();
      channel.close();
    };
  }, []);
  return { rows, status };
}

export default function Live() {
  const [isPaused, pause] = useState(false);
  const [kind, pick] = useState("");
  const { rows, status } = useEvents(isPaused);
  const before = useCall("changes", { limit: 50 }, { skip: !can("changes") });
  const past = [...(before.data?.changes ?? [])].reverse().filter((one) => !rows.some((row) => row.cursor === one.cursor));
  const shown = [...rows, ...past].filter((one) => !kind || one.kind === kind);
  return html`<div class="tools"><h1>Live</h1><span
      class="tag ${status === "live" && !isPaused ? "accent" : "warn"}" role="status">
      ${isPaused ? "paused" : status}</span>
      <button class="end" aria-pressed=${isPaused} onClick=${() => pause(!isPaused)}>${isPaused ? "Resume" : "Pause"}</button></div>
    <div class="tools"><${Tabs} label="kind" choices=${KINDS} value=${kind} pick=${pick} />
      ${rows.length > 0 && html`<span class="muted end">${plural(rows.length, "change")} since you opened this page</span>`}
    </div>
    ${shown.length === 0
      ? html`<${Empty} title="Nothing yet" commands="mnemos connect">Messages and questions of agents appear here as they
          happen, from every program that uses this memory.<//>`
      : html`<ul class="changes live">${shown.map((one) => html`<li key=${one.cursor ?? one.ref + one.at}><span
          class="number muted"><${Time} at=${one.at} /></span><span><span class="tag">${one.kind}</span> <span
          class="muted"><${Line} text=${one.action} most=${20} /></span></span><span class="what"><a data-row
          href=${placeOf(one)}><${Line} text=${one.text || one.ref || one.action} most=${140} /></a></span><span
          class="muted"><${Line} text=${one.actor ?? ""} most=${24} /></span></li>`)}</ul>`}`;
}
