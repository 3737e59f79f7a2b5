import { Bars } from "../chart.js";
import { can, go, to, useCall } from "../core.js";
import { Empty, Loaded, Meter, Panel, SessionLink, Stored, Tabs, bytes, dateOf, line, num, plural, time } from "../ui.js";
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
  return html`<${Panel} id="growth" title="Messages by day" more=${html`<${Tabs} label="span" choices=${SPANS}
    value=${span} pick=${pick} />`}>
    <${Bars} rows=${rows} names=${names} label="messages by day"
      pick=${(a, b) => go("sessions", "", { since: isoDay(a.since), until: isoDay(b.until) })} />
    <p class="legend">${names.slice(0, 4).map((name, at) => html`<span key=${name}><i
      class="dot tone${at % 4}"></i>${line(name, 30)} <span class="muted number">
      ${num(sums[name])}</span></span>`)}
      ${names.length > 0 && html`<span class="muted end">drag over days to see their conversations</span>`}</p><//>`;
}

const PARTS = [
  ["messages", /^messages(?!_fts)|^session/],
  ["vectors", /^vectors/],
  ["index", /_fts/],
];

/** The size of the file by part, largest first. */
export function weigh({ tables, free_bytes }) {
  const sums = {};
  for (const [table, size] of Object.entries(tables)) {
    const part = PARTS.find(([, pattern]) => pattern.test(table))?.[0] ?? "other";
    sums[part] = (sums[part] ?? 0) + size;
  }
  if (free_bytes) sums.free = free_bytes;
  return Object.entries(sums).sort(([, a], [, b]) => b - a);
}

/** Read after the rest, for it takes longer. */
function Disk() {
  const { data } = useCall("stats");
  return data && html`<p class="muted">Disk: ${weigh(data).map(([name, size]) => `${name} ${bytes(size)}`).join(" · ")}</p>`;
}

function Prompt({ parts }) {
  const [isOpen, open] = useState(false);
  const total = (key) => parts.reduce((sum, one) => sum + one[key], 0);
  return html`<${Panel} id="prompt" title="In every prompt now" more=${html`<button class="plain"
    aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>${isOpen ? "hide" : "see"} the text</button>`}>
    <${Meter} label=${parts.map((one) => `${one.name} ${num(one.tokens)}`).join(" · ")} used=${total("tokens")}
      limit=${total("limit")} unit="tokens" />
    ${isOpen && html`<pre tabindex="0"><${Stored}
      text=${parts.map((one) => one.text).filter(Boolean).join("\n\n")} isCode most=${20000} /></pre>`}<//>`;
}

function Warnings({ data }) {
  const age = data.last_backup == null ? null : (Date.now() / 1000 - data.last_backup) / DAY;
  return html`${data.conflicts > 0 && html`<a class="notice" href=${to("facts")}>
    ${plural(data.conflicts, "conflict")} between facts</a>`}
    ${data.coverage != null && data.coverage < 0.999 && html`<a class="notice" href=${to("health")}>
      ${Math.floor(100 * data.coverage)}% of messages are indexed by meaning. Optimize indexes the rest.</a>`}
    ${age > 30 && html`<a class="notice"
      href=${to("health")}>The last backup is ${plural(Math.round(age), "day")} old.</a>`}`;
}

/** A list of the latest items, with a link to all of them. */
const Latest = ({ id, title, page, of: found, empty, class: name = "list", children }) => html`<${Panel} id=${id}
  title=${title} more=${page && html`<a href=${to(page)}>all</a>`}><${Loaded} of=${found}>${(data) => {
    const list = data.facts ?? data.recalls ?? data.sessions;
    return list.length ? html`<ul class=${name}>${list.map((one) => html`<li key=${one.id}>${children(one)}</li>`)}
      </ul>` : html`<p class="muted">${empty}</p>`;
  }}<//><//>`;

const FIGURES = [["sessions", "conversation", "sessions"], ["messages", "message"], ["facts", "fact", "facts"], ["notes", "note", "notebook"]];

export default function Overview() {
  const found = useCall("overview");
  const ask = (name, args) => useCall(name, { limit: 8, ...args }, { skip: !can(name) });
  const facts = ask("facts_list", { status: "hot" });
  const recalls = ask("recalls");
  const sessions = ask("sessions_list");
  const count = (data) => ([key, name, page]) => {
    const label = data[key] === 1 ? name : `${name}s`;
    return html`<div key=${key}><b>${num(data[key])}</b>${page ? html`<a href=${to(page)}>${label}</a>` : html`<span
      class="muted">${label}</span>`}</div>`;
  };
  return html`<h1 class="unseen">Overview</h1>
    <${Loaded} of=${found}>${(data) =>
      data.messages + data.facts + data.notes === 0
        ? html`<${Empty} title="Nothing is stored yet" commands=${"mnemos import\nmnemos connect"}>Import the
            conversations that are on this machine, or let a program record its own.
            ${can("import_found") && html` <a href=${to("connections")}>Do it here.</a>`}<//>`
        : html`<div class="figures">${FIGURES.map(count(data))}
            <div><b>${bytes(data.bytes)}</b><span class="muted">on disk</span></div></div>
          <${Warnings} data=${data} />
          <${Growth} growth=${data.growth} />
          <${Prompt} parts=${data.prompt} />
          <div class="columns spaced">
            ${can("facts_list") && html`<${Latest} id="hot" title="Hot facts" page="facts" of=${facts}
              class="list aligned" empty="None yet. Agents state them, or you do with mnemos remember.">${(fact) => html`<span
                class="type">${fact.type}</span><a class="target" data-row href=${to("facts", fact.target)}>
                ${line(fact.target, 40)}</a><span class="grow">${line(fact.content)}</span>`}<//>`}
            ${can("recalls") && html`<${Latest} id="asked" title="Asked lately" of=${recalls}
              empty="No questions yet.">${(one) => html`<span class="grow"><a data-row
                href=${to("recall", "", { q: one.query, was: one.id })}>${line(one.query)}</a>
                <br /><span class="muted">${line(one.actor, 24)}, ${plural(one.hits.length, "hit")}, ${plural(one.tokens, "token")}</span></span><span
                class="muted number">${time(one.at)}</span>`}<//>`}
            ${can("sessions_list") && html`<${Latest} id="latest" title="Latest conversations" page="sessions"
              of=${sessions} empty="None yet.">${(one) => html`<span class="grow"><${SessionLink} id=${one.id}
                title=${one.title} /></span><span class="muted number">${time(one.started_at)}</span>`}<//>`}
          </div>
          ${can("stats") && html`<${Disk} />`}`}<//>`;
}
