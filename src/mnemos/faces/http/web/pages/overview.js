// What there is, how it grew, what goes into every prompt.
import { Bars } from "../chart.js";
import { can, go, to, useCall } from "../core.js";
import { Empty, Line, Loaded, Meter, SessionLink, Stored, Time, bytes, dateOf, num, plural } from "../ui.js";
import { html, useState } from "../vendor/preact.js";

const DAY = 86400;
const SPANS = [["30", "30 days"], ["180", "180 days"], ["0", "all"]];

/** Messages per day or longer step, by source; at most 90 bars. */
function group(sessions, span) {
  const today = Math.floor(Date.now() / 1000 / DAY) * DAY + DAY;
  const oldest = Math.min(...sessions.map((one) => one.started_at), today - DAY);
  const days = span || Math.max(30, Math.ceil((today - oldest) / DAY));
  const step = Math.ceil(days / 90);
  const rows = Array.from({ length: Math.ceil(days / step) }, (_, at) => {
    const since = today - (Math.ceil(days / step) - at) * step * DAY;
    return { since, until: since + step * DAY, label: dateOf(since), parts: {} };
  });
  const sums = {};
  for (const one of sessions) {
    const row = rows[Math.floor((one.started_at - rows[0].since) / (step * DAY))];
    if (!row) continue;
    row.parts[one.source] = (row.parts[one.source] ?? 0) + one.message_count;
    sums[one.source] = (sums[one.source] ?? 0) + one.message_count;
  }
  return { rows, names: Object.keys(sums).sort((a, b) => sums[b] - sums[a]), sums };
}

function Growth({ sessions }) {
  const [span, pick] = useState("180");
  const { rows, names, sums } = group(sessions, Number(span));
  const shown = names.slice(0, 4);
  return html`<section class="panel" aria-labelledby="growth">
    <header><h2 id="growth">Messages by day</h2>
      <div class="tabs" role="group" aria-label="span">${SPANS.map(([key, name]) => html`<button key=${key} aria-pressed=${key === span} onClick=${() => pick(key)}>${name}</button>`)}</div></header>
    <${Bars} rows=${rows} names=${names} label="messages by day" pick=${(a, b) => go("sessions", "", { since: dateOf(a.since), until: dateOf(b.until) })} />
    <p class="legend">${shown.map((name, at) => html`<span key=${name}><i class="dot tone${at % 4}"></i><${Line} text=${name} most=${30} /> <span class="muted number">${num(sums[name])}</span></span>`)}</p>
  </section>`;
}

function Prompt({ status, notebook }) {
  const [isOpen, open] = useState(false);
  return html`<section class="panel" aria-labelledby="prompt">
    <header><h2 id="prompt">In every prompt now</h2><button class="quiet" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>${isOpen ? "hide" : "see"} the text</button></header>
    <${Meter} label="Facts" used=${status.tokens} limit=${Math.round(status.tokens / Math.max(status.gauge, 1) * 100) || 1} unit="tokens" />
    ${notebook?.files.map((file) => html`<${Meter} key=${file.target} label=${file.target === "user" ? "Notes about you" : "Notes"} used=${file.used} limit=${file.limit} unit="characters" />`)}
    ${isOpen && html`<pre tabindex="0"><${Stored} text=${status.block} isCode most=${20000} /></pre>`}
  </section>`;
}

function Warnings({ conflicts, stats }) {
  const found = [];
  if (conflicts?.conflicts.length) found.push(html`<a class="notice" href=${to("facts", "", { show: "conflicts" })}>${plural(conflicts.conflicts.length, "conflict")} between facts</a>`);
  if (stats.pending) found.push(html`<a class="notice" href=${to("health")}>${plural(stats.pending, "message")} not indexed by meaning yet: run optimize</a>`);
  return found;
}

export default function Overview() {
  const stats = useCall("stats");
  const sessions = useCall("sessions_list", { limit: 1000 }, { skip: !can("sessions_list") });
  const status = useCall("memory_status", {}, { skip: !can("memory_status") });
  const notebook = useCall("notebook_show", {}, { skip: !can("notebook_show") });
  const facts = useCall("facts_list", { limit: 8 }, { skip: !can("facts_list") });
  const conflicts = useCall("facts_conflicts", {}, { skip: !can("facts_conflicts") });
  return html`<h1 class="unseen">Overview</h1>
    <${Loaded} of=${stats}>${(data) =>
      data.messages + data.facts === 0
        ? html`<${Empty} title="Nothing is stored yet">Import conversations that are on this machine with <code>mnemos import</code>, or let a program record its own with <code>mnemos connect</code>. ${can("import_found") && html`<a href=${to("connections")}>Do it here.</a>`}<//>`
        : html`<div class="figures">
            <div><b>${num(data.sessions)}</b><a href=${to("sessions")}>conversations</a></div>
            <div><b>${num(data.messages)}</b><span class="muted">messages</span></div>
            <div><b>${num(data.facts)}</b><a href=${to("facts")}>facts</a></div>
            <div><b>${bytes(data.file_bytes)}</b><span class="muted">on disk</span></div>
          </div>
          <${Warnings} conflicts=${conflicts.data} stats=${data} />
          ${sessions.data && html`<${Growth} sessions=${sessions.data.sessions} />`}
          <div class="columns">
            ${status.data && html`<${Prompt} status=${status.data} notebook=${notebook.data} />`}
            ${facts.data && html`<section class="panel" aria-labelledby="hot"><header><h2 id="hot">Hot facts</h2><a href=${to("facts")}>all ${num(facts.data.total)}</a></header>
              ${facts.data.facts.length === 0 ? html`<p class="muted">None. An agent writes them, or <code>mnemos remember</code>.</p>` : html`<ul class="list">${facts.data.facts.map((fact) => html`<li key=${fact.id}><a class="target" data-row href=${to("facts", fact.target)}>${fact.target}</a><span class="grow"><${Line} text=${fact.content} most=${70} /></span></li>`)}</ul>`}</section>`}
            ${sessions.data && html`<section class="panel" aria-labelledby="latest"><header><h2 id="latest">Latest conversations</h2><a href=${to("sessions")}>all</a></header>
              <ul class="list">${sessions.data.sessions.slice(0, 8).map((one) => html`<li key=${one.id}><span class="grow"><${SessionLink} id=${one.id} title=${one.title} /></span><span class="muted number"><${Time} at=${one.started_at} /></span></li>`)}</ul></section>`}
          </div>`}<//>`;
}
