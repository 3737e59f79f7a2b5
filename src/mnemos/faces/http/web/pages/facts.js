import {
  act, Button, dateOf, edit, Empty, Filter, forget, given, go, Head, html, line, Loaded, Lost, Pager, Panel, plural,
  range, revise, Select, Stored, Tabs, time, to, useCall, useEffect, useState,
} from "../forms.js";

const TYPES = { C: "constraint", D: "decision", V: "value", "?": "question", "✓": "done", "~": "obsolete" };
const DAY = 86400;
const PAGE = 200;
const seconds = (iso) => (iso ? Date.parse(iso) / 1000 : null);
const isoDay = (at) => new Date(at * 1000).toISOString().slice(0, 10);

const CHOICES = Object.entries(TYPES).map(([key, name]) => [key, `${key} ${name}`]);

/** Write a new fact, or a new statement in place of `fact`. */
const write = (fact) => edit({
  title: fact ? `Correct ${fact.target}` : "New fact",
  note: fact && "The new statement replaces the old one, which stays in the history.",
  values: fact ? { type: fact.type, target: fact.target, scope: fact.scope ?? "", statement: fact.content } : { type: "D" },
  fields: [
    { name: "type", choices: CHOICES },
    { name: "target", isFixed: !!fact, pattern: "[^\\[\\]\\s]+", hint: "srv.prod" },
    { name: "scope", isOptional: true, hint: "none" },
    { name: "statement", rows: 3 },
  ],
  save: async ({ type, target, scope, statement }) => {
    const content = `${type}[${target}]: ${statement.replace(/\n/g, " ")}`;
    const done = await act("memory_write", { content, ...(scope && { scope }) }, { said: () => `Saved ${target}.` });
    if (done) go("facts", target);
    return done;
  },
});

const Mark = ({ fact }) => html`<span class="type" title=${TYPES[fact.type]}>${fact.type}<span
  class="unseen"> ${TYPES[fact.type]}</span></span>`;

function Row({ fact }) {
  const tag = fact.state !== "live" ? fact.state : fact.tier !== "hot" && fact.tier;
  return html`<li class="fact ${fact.state}"><${Mark} fact=${fact} />
    <a class="target" data-row href=${to("facts", fact.target)}>${line(fact.target, 40)}</a>
    <span class="grow">${line(fact.content)}${tag && html` <span class="tag">${tag}
      </span>`}</span></li>`;
}

const bothOf = ({ older, newer }) => [newer.target, { and: newer.target === older.target ? "" : older.target }];

function Conflict({ one }) {
  const keep = (gone, kept) => act("forget", { ref: gone.id }, { said: () => `Kept ${kept.content}; withdrew ${gone.id}.` });
  return html`<li data-row tabindex="-1"><span class="grow">
      <a class="target" data-key="open" href=${to("facts", one.newer.target)}>${one.newer.target}</a>
      ${" "}${line(one.older.content)} <b>≠</b> ${line(one.newer.content)}
      ${one.reason !== "contradicts" && html`<span class="muted"> ${one.reason}</span>`}</span>
    <span class="does"><${Button} needs="forget" onClick=${() => keep(one.newer, one.older)}>keep older<//>
      <${Button} needs="forget" onClick=${() => keep(one.older, one.newer)}>keep newer<//>
      <a href=${to("facts", ...bothOf(one))}>open both</a></span></li>`;
}

const Conflicts = ({ conflicts }) => html`<${Panel} id="conflicts" class="conflicts"
  title=${plural(conflicts.length, "conflict")}><ul class="list">${conflicts.map((one) => html`<${Conflict}
    key=${one.older.id + one.newer.id} one=${one} />`)}</ul><//>`;

/** A slider over whole days; its right end is now. */
function AsOf({ params, since, set }) {
  const today = Math.floor(Date.now() / 1000 / DAY);
  const first = Math.min(Math.floor((since ?? Date.now() / 1000) / DAY), today - 7);
  const chosen = params.as_of ? Math.floor(Date.parse(params.as_of) / 1000 / DAY) : today;
  const [at, move] = useState(chosen);
  useEffect(() => move(chosen), [params.as_of]);
  const shown = at >= today ? "now" : dateOf(at * DAY);
  const pick = (event) => set({ as_of: Number(event.target.value) >= today ? "" : isoDay(event.target.value * DAY) });
  return html`<div class="as-of"><label class="range grow">as of
      <input class="grow" type="range" min=${first} max=${today} value=${at} aria-valuetext=${shown}
        onInput=${(e) => move(Number(e.target.value))} onChange=${pick} /></label>
    <b class="number">${shown}</b>${params.as_of && html`<button type="button"
      onClick=${() => set({ as_of: "" })}>now</button>`}</div>`;
}

// Facts of a scope that are drawn next to other scopes.
const SOME = 12;

function Scope({ at, name, about, facts, isAlone, params }) {
  const most = isAlone || !name ? PAGE : SOME;
  const state = about && (about.closed_at ? html`closed on ${time(seconds(about.closed_at), dateOf)}, ` : "open, ");
  return html`<${Panel} id="scope-${at}" title=${line(name || "no scope", 50)}
    more=${html`<span class="muted small">${state}${plural(facts.length, "fact")}</span>`}>
    <ul class="list aligned">${facts.slice(0, most).map((fact) => html`<${Row} key=${fact.id} fact=${fact} />`)}</ul>
    ${facts.length > most && html`<a class="small" data-row
      href=${to("facts", "", { ...params, offset: "", scope: name })}>all facts of this scope</a>`}<//>`;
}

const STATES = [["", "current"], ["hot", "hot"], ["cold", "cold"], ["everything", "including ended"]];
const choose = ({ as_of, type, scope, status, q }) =>
  given({ as_of: as_of && `${as_of}T23:59:59`, type: type && [type], scope, status, query: q });

function Board({ params }) {
  const set = (change) => revise("facts", "", { ...params, offset: "", ...change });
  const offset = Number(params.offset ?? 0);
  const scopes = useCall("facts_scopes", { limit: 1000 });
  const facts = useCall("facts_list", { limit: PAGE, offset, ...choose(params) });
  const conflicts = useCall("facts_conflicts");
  const opened = scopes.data?.scopes.map((one) => seconds(one.opened_at)).filter(Boolean) ?? [];
  const about = Object.fromEntries((scopes.data?.scopes ?? []).map((one) => [one.label, one]));
  const compare = (a, b) =>
    !!about[a]?.closed_at - !!about[b]?.closed_at || (a === "") - (b === "") ||
    (about[b]?.touched_at ?? "").localeCompare(about[a]?.touched_at ?? "");
  return html`<div class="tools"><h1 class="grow">Facts</h1>
      <${Button} needs="memory_write" class="main" hint="n" onClick=${() => write()}>New fact <kbd>n</kbd><//></div>
    <${Filter} fields=${{ q: "words in facts" }} params=${params} set=${set}>
      <label>type <${Select} choices=${[["", "all"], ...CHOICES]} value=${params.type ?? ""}
        pick=${(type) => set({ type })} /></label>
      <${Tabs} label="state" choices=${STATES} value=${params.status ?? ""} pick=${(status) => set({ status })} />
      ${params.scope && html`<button type="button" onClick=${() => set({ scope: "" })}>scope ${line(params.scope, 30)} ✕</button>`}
      <${AsOf} params=${params} since=${Math.min(...opened)} set=${set} /><//>
    ${!params.as_of && conflicts.data?.conflicts.length > 0 && html`<${Conflicts}
      conflicts=${conflicts.data.conflicts} />`}
    <${Loaded} of=${conflicts.data || conflicts.error ? facts : {}}>${(data) => {
      if (!data.facts.length && Object.keys(choose(params)).length)
        return html`<${Empty} title="No fact matches">Choose another day, type or state, or clear the words.<//>`;
      if (!data.facts.length)
        return html`<${Empty} title="No facts yet"
          commands="mnemos remember we use Redis streams for the emails">Agents state them while they work. You can,
            too:<//>`;
      const groups = Map.groupBy(data.facts, (fact) => fact.scope ?? "");
      return html`<div class="board">${[...groups.keys()].sort(compare).map((name, at) => html`<${Scope} key=${name}
        at=${at} name=${name} about=${about[name]} facts=${groups.get(name)}
        isAlone=${groups.size === 1} params=${params} />`)}</div>
        <${Pager} back=${offset > 0 && (() => set({ offset: Math.max(0, offset - PAGE) || "" }))}
          on=${data.left > 0 && (() => set({ offset: offset + PAGE }))}>
          ${range(offset, data.facts.length, data.total)}<//>`;
    }}<//>`;
}

/** The statements on a target through time, a lane for each scope. */
function Timeline({ facts }) {
  const now = Date.now() / 1000;
  const from = Math.min(...facts.map((fact) => seconds(fact.valid_from)));
  const span = Math.max(now - from, 1);
  const share = (at) => (100 * (at - from)) / span;
  const bar = (fact) => {
    const start = seconds(fact.valid_from);
    const end = seconds(fact.valid_to ?? fact.ended_at) ?? now;
    const wide = `max(6px, ${share(end) - share(start)}%)`;
    return html`<i key=${fact.id} class=${fact.state} style=${{ left: `${share(start)}%`, width: wide }}
      title="${fact.content} (${dateOf(start)} to ${end === now ? "now" : dateOf(end)})">${line(fact.content)}</i>`;
  };
  const lanes = Map.groupBy(facts, (fact) => fact.scope ?? "");
  return html`<div class="lanes" aria-hidden="true">${[...lanes].map(([scope, list]) => html`
      <span class="muted">${line(scope || "no scope", 30)}</span><div class="lane">
        ${list.map(bar)}</div>`)}
    <div class="row muted"><span>${dateOf(from)}</span><span>now</span></div></div>`;
}

function Source({ fact, conflicts }) {
  const end = seconds(fact.valid_to ?? fact.ended_at);
  const about = conflicts.filter((one) => one.older.id === fact.id || one.newer.id === fact.id);
  return html`<span class="muted">${time(seconds(fact.valid_from), dateOf)} to
      ${" "}${end ? time(end, dateOf) : "now"} · stated by ${line(fact.stated_by ?? fact.actor, 30)}
    ${fact.message_id != null && html` · <a
      href=${to("sessions", `${fact.session_id ?? ""}@${fact.message_id}`)}>said in message ${fact.message_id}
      </a>`}
    ${fact.superseded_by && ` · replaced by ${fact.superseded_by}`}
    ${about.map((one) => html` · <a key=${one.older.id + one.newer.id} href=${to("facts", ...bothOf(one))}>
      ${one.newer.id} ${one.reason} ${one.older.id}</a>`)}</span>`;
}

function Statement({ fact, conflicts = [] }) {
  const isLive = fact.state === "live";
  return html`<li class="statement ${fact.state}" data-row tabindex="-1">
    <header class="row"><span><${Mark} fact=${fact} /> <b>${TYPES[fact.type]}</b>${" "}
        <span class="tag ${isLive ? "accent" : ""}">${isLive ? fact.tier : fact.state}</span>
        ${fact.scope && html` <span class="tag">${line(fact.scope, 40)}</span>`}</span>
      <span class="muted"><code>${fact.id}</code></span></header>
    <${Stored} text=${fact.content} />
    <footer class="row"><${Source} fact=${fact} conflicts=${conflicts} />
      <span class="does">${isLive && html`<${Button} needs="memory_write" hint="e" onClick=${() => write(fact)}>correct<//>
        <${Button} needs="forget" onClick=${() => act("forget", { ref: fact.id })}>withdraw<//>`}
        <${Button} needs="forget" hint="#" onClick=${() => forget([`fact:${fact.id}`])}>erase<//></span></footer></li>`;
}

function History({ target }) {
  const found = useCall("memory_history", { target, limit: 200 });
  const conflicts = useCall("facts_conflicts", { limit: 1000 });
  return html`<${Head} page="facts" name="Facts" title=${html`<code>${line(target)}</code>`} />
    <${Loaded} of=${found}>${({ facts }) => html`<p class="muted">${plural(facts.length, "statement")}</p>
      <${Timeline} facts=${facts} />
      <ol class="statements">${[...facts].reverse().map((one) => html`<${Statement} key=${one.id} fact=${one}
        conflicts=${conflicts.data?.conflicts} />`)}</ol>`}<//>`;
}

const targetOf = ({ explained }) => explained && ["facts", explained.fact?.target ?? explained.target];

export default function Facts({ rest, params }) {
  if (params.open) return html`<h1>Facts</h1><${Lost} key=${params.open} id=${params.open} find=${targetOf} />`;
  if (!rest) return html`<${Board} params=${params} />`;
  const targets = [rest, params.and].filter(Boolean);
  return html`<div class="columns">${targets.map((target) => html`<section key=${target}><${History}
    target=${target} /></section>`)}</div>`;
}
