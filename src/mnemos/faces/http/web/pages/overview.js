import { Bars } from "../chart.js";
import { can, go, to, useCall } from "../core.js";
import { Empty, Line, Loaded, Meter, SessionLink, Stored, Tabs, Time, bytes, dateOf, num, plural } from "../ui.js";
import { html, useState } from "../vendor/preact.js";

const DAY = 86400;
const SPANS = [["30", "30 days"], ["180", "180 days"], ["0", "all"]];
const isoDay = (at) => new Date(at * 1000).toISOString().slice(0, 10);

function group(growth, span) {
  const days = growth.map((one) => Date.parse(one.date) / 1000);
  const end = Math.floor(Date.now() / 1000 / DAY) * DAY + DAY;
  const length = span || Math.max(30, Math.ceil((end - Math.min(end, ...days)) / DAY));
  const step = Math.ceil(length / 90);
  const count = Math.ceil(length / step);
  const rows = Array.from({ length: count }, (_, at) => {
    const since = end - (count - at) * step * DAY;
    return { since, until: since + step * DAY, label: dateOf(since), parts: {} };
  });
  const sums = {};
  growth.forEach((one, at) => {
    const row = rows[Math.floor((days[at] - rows[0].since) / (step * DAY))];
    if (!row) return;
    row.parts[one.source] = (row.parts[one.source] ?? 0) + one.messages;
    sums[one.source] = (sums[one.source] ?? 0) + one.messages;
  });
  return { rows, names: Object.keys(sums).sort((a, b) => sums[b] - sums[a]), sums };
}

function Growth({ growth }) {
  const [span, pick] = useState("180");
  const { rows, names, sums } = group(growth, Number(span));
  return html`<section class="panel" aria-labelledby="growth">
    <header><h2 id="growth">Messages by day</h2><${Tabs} label="span" choices=${SPANS} value=${span}
      pick=${pick} /></header>
    <${Bars} rows=${rows} names=${names} label="messages by day"
      pick=${(a, b) => go("sessions", "", { since: isoDay(a.since), until: isoDay(b.until) })} />
    <p class="legend">${names.slice(0, 4).map((name, at) => html`<span key=${name}><i
      class="dot tone${at % 4}"></i><${Line} text=${name} most=${30} /> <span class="muted number">
      ${num(sums[name])}</span></span>`)}
      ${names.length > 0 && html`<span class="muted">drag to see the conversations of some days</span>`}</p>
  </section>`;
}

const PARTS = [
  ["messages", /^messages(?!_fts)|^session/],
  ["vectors", /^vectors/],
  ["index", /_fts/],
];

/** The size of the file by part; read after the rest, for it takes longer. */
function Disk() {
  const found = useCall("stats");
  if (!found.data) return null;
  const sums = {};
  for (const [table, size] of Object.entries(found.data.tables)) {
    const part = PARTS.find(([, pattern]) => pattern.test(table))?.[0] ?? "other";
    sums[part] = (sums[part] ?? 0) + size;
  }
  if (found.data.free_bytes) sums.free = found.data.free_bytes;
  const parts = Object.entries(sums).sort(([, a], [, b]) => b - a);
  return html`<p class="muted">Disk: ${parts.map(([name, size]) => `${name} ${bytes(size)}`).join(" · ")}</p>`;
}

function Prompt({ parts }) {
  const [isOpen, open] = useState(false);
  const total = (key) => parts.reduce((sum, one) => sum + one[key], 0);
  return html`<section class="panel" aria-labelledby="prompt">
    <header><h2 id="prompt">In every prompt now</h2><button class="quiet" aria-expanded=${isOpen}
      onClick=${() => open(!isOpen)}>${isOpen ? "hide" : "see"} the text</button></header>
    <${Meter} label="in all" used=${total("tokens")} limit=${total("limit")} unit="tokens" />
    <p class="legend muted">${parts.map((one) => html`<span key=${one.name}>${one.name}
      <span class="number"> ${num(one.tokens)} of ${num(one.limit)}</span></span>`)}</p>
    ${isOpen && html`<pre tabindex="0"><${Stored}
      text=${parts.map((one) => one.text).filter(Boolean).join("\n\n")} isCode most=${20000} /></pre>`}
  </section>`;
}

function Warnings({ data }) {
  const age = data.last_backup == null ? null : (Date.now() / 1000 - data.last_backup) / DAY;
  return html`${data.conflicts > 0 && html`<a class="notice" href=${to("facts")}>
    ${plural(data.conflicts, "conflict")} between facts</a>`}
    ${data.coverage != null && data.coverage < 0.999 && html`<a class="notice" href=${to("health")}>
      ${Math.floor(100 * data.coverage)}% of messages are indexed by meaning. Optimize does the rest.</a>`}
    ${age > 30 && html`<a class="notice"
      href=${to("health")}>The last backup is ${plural(Math.round(age), "day")} old.</a>`}`;
}

function Asked() {
  const found = useCall("recalls", { limit: 8 });
  return html`<section class="panel" aria-labelledby="asked"><header><h2 id="asked">Asked lately</h2></header>
    <${Loaded} of=${found}>${({ recalls }) =>
    recalls.length === 0
      ? html`<p class="muted">Nobody asked yet.</p>`
      : html`<ul class="list">${recalls.map((one) => html`<li key=${one.id}><span class="grow"><a data-row
        href=${to("recall", "", { q: one.query, was: one.id })}><${Line} text=${one.query} most=${70} /></a>
        <br /><span class="muted"><${Line} text=${one.actor}
        most=${24} />, ${plural(one.hits.length, "hit")}, ${plural(one.tokens, "token")}</span></span><span
        class="muted number"><${Time} at=${one.at} /></span></li>`)}</ul>`}<//></section>`;
}

export default function Overview() {
  const found = useCall("overview");
  const facts = useCall("facts_list", { limit: 8, status: "hot" }, { skip: !can("facts_list") });
  const sessions = useCall("sessions_list", { limit: 8 }, { skip: !can("sessions_list") });
  return html`<h1 class="unseen">Overview</h1>
    <${Loaded} of=${found}>${(data) =>
      data.messages + data.facts + data.notes === 0
        ? html`<${Empty}
          title="Nothing is stored yet">Import conversations that are on this machine with <code>mnemos import</code>, or let a program record its own with <code>mnemos connect</code>. ${can("import_found") && html`<a
          href=${to("connections")}>Do it here.</a>`}<//>`
        : html`<div class="figures">
            ${[["sessions", "conversation", data.sessions], ["", "message", data.messages], ["facts", "fact", data.facts], ["notebook", "note", data.notes]].map(([page, name, count]) => html`<div
              key=${name}><b>${num(count)}</b>${page ? html`<a href=${to(page)}>${name}${count === 1 ? "" : "s"}
              </a>` : html`<span class="muted">${name}s</span>`}</div>`)}
            <div><b>${bytes(data.bytes)}</b><span class="muted">on disk</span></div></div>
          <${Warnings} data=${data} />
          <${Growth} growth=${data.growth} />
          <div class="board">
            <${Prompt} parts=${data.prompt} />
            ${facts.data && html`<section class="panel" aria-labelledby="hot"><header><h2
              id="hot">Hot facts</h2><a href=${to("facts")}>all ${num(data.facts)}</a></header>
              ${facts.data.facts.length === 0 ? html`<p
                class="muted">None. An agent writes them, or <code>mnemos remember</code>.</p>` : html`<ul
                class="list aligned">${facts.data.facts.map((fact) => html`<li key=${fact.id}><span
                class="type">${fact.type}</span><a class="target" data-row href=${to("facts", fact.target)}>
                <${Line} text=${fact.target} most=${40} /></a><span class="grow"><${Line} text=${fact.content}
                most=${70} /></span></li>`)}</ul>`}</section>`}
            ${can("recalls") && html`<${Asked} />`}
            ${sessions.data && html`<section class="panel" aria-labelledby="latest"><header><h2
              id="latest">Latest conversations</h2><a href=${to("sessions")}>all</a></header>
              <ul class="list">${sessions.data.sessions.map((one) => html`<li key=${one.id}><span class="grow">
                <${SessionLink} id=${one.id} title=${one.title} /></span><span class="muted number"><${Time}
                at=${one.started_at} /></span></li>`)}</ul></section>`}
          </div>
          ${can("stats") && html`<${Disk} />`}`}<//>`;
}
