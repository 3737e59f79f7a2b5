// Messages and questions of agents, as they happen. One stream per browser: the tab that has the lock reads it for all.
import {
  Empty, html, line, listen, Loaded, placeOf, rights, Tabs, time, useCall, useEffect, useState,
} from "../forms.js";

const MOST = 500;
const KINDS = [["", "all"], ["message", "messages"], ["session", "conversations"], ["fact", "facts"], ["note", "notes"], ["entry", "entries"], ["table", "tables"], ["recall", "recalls"]];

/** The newest changes, newest first, and whether they are up to date; a tab that was hidden goes on where it was. */
function useEvents({ data }) {
  const [rows, set] = useState([]);
  const [status, say] = useState("waiting");
  const isReady = !!data;
  useEffect(() => {
    if (!isReady) return;
    const name = `mnemos ${rights.space}`;
    const channel = new BroadcastChannel(name);
    let { cursor } = data;
    set(data.changes.toReversed());
    const add = (one) => {
      ({ cursor } = one);
      say("live");
      set((old) => (old.some((row) => row.cursor === cursor) ? old : [one, ...old].slice(0, MOST)));
    };
    channel.onmessage = ({ data: one }) => add(one);
    const follow = async (signal) => {
      while (!signal.aborted) {
        try {
          for await (const one of listen("/v1/events", { signal, last: cursor })) {
            if (one.event === "end") break;
            say("live");
            if (!one.data.kind) continue;
            add(one.data);
            channel.postMessage(one.data);
          }
        } catch {
          if (signal.aborted) return;
        }
        say("waiting");
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
    };
    let own;
    const turn = () => {
      own?.abort();
      own = document.hidden ? null : new AbortController();
      if (!own) return;
      const { signal } = own;
      navigator.locks.request(name, { signal }, () => follow(signal)).catch(() => {});
      // Another tab may read for this one.
      navigator.locks.query().then(({ pending }) => pending.some((one) => one.name === name) && say("live"));
    };
    turn();
    document.addEventListener("visibilitychange", turn);
    return () => {
      document.removeEventListener("visibilitychange", turn);
      own?.abort();
      channel.close();
    };
  }, [isReady]);
  return { rows, status };
}

export default function Live() {
  // The rows at the moment of a pause; those to come are kept for later.
  const [paused, pause] = useState(null);
  const [kind, pick] = useState("");
  const found = useCall("changes", { limit: 50, recalls: true });
  const { rows, status } = useEvents(found);
  const shown = (paused ?? rows).filter((one) => !kind || one.kind === kind);
  return html`<div class="tools"><h1>Live</h1><span class="tag ${status === "live" && !paused ? "accent" : "warn"}"
      role="status">${paused ? "paused" : status}</span>
      <button class="end" aria-pressed=${!!paused} onClick=${() => pause(paused ? null : rows)}>
        ${paused ? "Resume" : "Pause"}</button></div>
    <div class="tools"><${Tabs} label="kind" choices=${KINDS} value=${kind} pick=${pick} /></div>
    <${Loaded} of=${found}>${() =>
      shown.length === 0
        ? html`<${Empty} title="Nothing yet" commands="mnemos connect">Messages and questions of agents appear here as
            they happen, from every program that uses this memory.<//>`
        : html`<ul class="changes live">${shown.map((one) => html`<li key=${one.cursor}><span
            class="number muted">${time(one.at)}</span><span><span class="tag">${one.kind}</span> <span
            class="muted">${line(one.action.split(".").at(-1), 20)}</span></span><span class="what"><a data-row
            href=${placeOf(one)}>${line(one.text || one.ref || one.action, 140)}</a></span><span
            class="muted">${line(one.actor ?? "", 24)}</span></li>`)}</ul>`}<//>`;
}
