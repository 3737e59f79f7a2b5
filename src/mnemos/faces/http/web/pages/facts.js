import { act, can, go, revise, to, useCall } from "../core.js";
import { Forget } from "../confirm.js";
import { Dialog, Empty, Line, Loaded, Stored, Time, dateOf, num, plural } from "../ui.js";
import { html, useEffect, useState } from "../vendor/preact.js";

const TYPES = { C: "constraint", D: "decision", V: "value", "?": "question", "✓": "done", "~": "obsolete" };
const DAY = 86400;
const seconds = (iso) => (iso ? Date.parse(iso) / 1000 : null);
const isoDay = (at) => new Date(at * 1000).toISOString().slice(0, 10);

function Write({ fact, close }) {
  const [type, setType] = useState(fact?.type ?? "D");
  const [target, setTarget] = useState(fact?.target ?? "");
  const [scope, setScope] = useState(fact?.scope ?? "");
  const [text, setText] = useState(fact?.content ?? "");
  const submit = async (event) => {
    event.preventDefault();
    const done = await act("memory_write", { content: `${type}[${target}]: ${text}`, ...(scope && { scope }) });
    if (done) {
      close();
      go("facts", target);
    }
  };
  return html`<${Dialog} title=${fact ? `Correct ${fact.target}` : "New fact"} close=${close}>
    <form class="form" onSubmit=${submit}>
      ${fact && html`<p class="muted">The new statement replaces the old one, which stays in the history.</p>`}
      <label>type <select value=${type} onChange=${(e) => setType(e.target.value)}>${Object.entries(TYPES).map(([key, name]) => html`<option key=${key} value=${key}>${key} ${name}</option>`)}</select></label>
      <label>target <input required pattern="[^\\[\\]\\s]+" readonly=${!!fact} placeholder="srv.prod" value=${target} onInput=${(e) => setTarget(e.target.value)} /></label>
      <label>scope <input placeholder="none" value=${scope} onInput=${(e) => setScope(e.target.value)} /></label>
      <label>statement <textarea required rows="3" autofocus value=${text} onInput=${(e) => setText(e.target.value.replace(/\n/g, " "))}></textarea></label>
      <footer><button type="button" onClick=${close}>Cancel</button><button class="main" disabled=${!target || !text.trim() || (fact && text === fact.content && type === fact.type)}>Save</button></footer>
    </form>
  </${Dialog}>`;
}

const Mark = ({ fact }) => html`<span class="type" title=${TYPES[fact.type]}>${fact.type}<span class="unseen"> ${TYPES[fact.type]}</span></span>`;

function Row({ fact }) {
  return html`<li class="fact ${fact.state}"><${Mark} fact=${fact} /><a class="target" data-row href=${to("facts", fact.target)}><${Line} text=${fact.target} most=${40} /></a>
    <span class="grow"><${Line} text=${fact.content} most=${120} /></span>${fact.state !== "live" ? html`<span class="tag">${fact.state}</span>` : fact.tier !== "hot" && html`<span class="tag">${fact.tier}</span>`}</li>`;
}

const bothOf = ({ older, newer }) => [newer.target, { and: newer.target === older.target ? "" : older.target }];

function Conflicts({ conflicts }) {
  const keep = (gone, kept) => act("forget", { ref: gone.id }, { said: `Kept ${kept.content}; withdrew ${gone.id}.` });
  return html`<section class="panel conflicts" aria-labelledby="conflicts"><header><h2 id="conflicts">${plural(conflicts.length, "conflict")}</h2></header>
    <ul class="list">${conflicts.map((one) => html`<li key=${one.older.id + one.newer.id} data-row tabindex="-1"><span class="grow"><a class="target" data-key="open" href=${to("facts", one.newer.target)}>${one.newer.target}</a> <${Line} text=${one.older.content} most=${70} /> <b>≠</b> <${Line} text=${one.newer.content} most=${70} /> <span class="muted">${one.reason}</span></span>
      <span class="does">${can("forget") && html`<button class="plain" onClick=${() => keep(one.newer, one.older)}>keep older</button><button class="plain" onClick=${() => keep(one.older, one.newer)}>keep newer</button>`}<a href=${to("facts", ...bothOf(one))}>open both</a></span></li>`)}</ul></section>`;
}

function AsOf({ params, since, set }) {
  const now = Math.floor(Date.now() / 1000 / DAY) * DAY + DAY;
  const from = Math.min(since ?? now - 30 * DAY, now - 7 * DAY);
  const chosen = params.as_of ? Date.parse(params.as_of) / 1000 : now;
  const [at, move] = useState(chosen);
  useEffect(() => move(chosen), [params.as_of]);
  const pick = (value) => set({ as_of: Number(value) >= now - DAY ? "" : isoDay(Number(value)) });
  return html`<div class="as-of"><label class="range grow">as of <input class="grow" type="range" min=${from} max=${now} step=${DAY} value=${at} aria-valuetext=${at >= now - DAY ? "now" : dateOf(at)} onInput=${(e) => move(Number(e.target.value))} onChange=${(e) => pick(e.target.value)} /></label>
    <b class="number">${at >= now - DAY ? "now" : dateOf(at)}</b>${params.as_of && html`<button onClick=${() => set({ as_of: "" })}>now</button>`}</div>`;
}

function Board({ params }) {
  const set = (change) => revise("facts", "", { ...params, ...change });
  const scopes = useCall("facts_scopes", { limit: 1000 });
  const status = params.ended ? "all" : "live";
  const facts = useCall("facts_list", { limit: 5000, ...(params.as_of && { as_of: `${params.as_of}T23:59:59` }), ...(params.type && { type: [params.type] }), ...(params.scope && { scope: params.scope }) });
  const conflicts = useCall("facts_conflicts");
  const [isNew, write] = useState(false);
  const opened = scopes.data?.scopes.map((one) => seconds(one.opened_at)).filter(Boolean) ?? [];
  const about = Object.fromEntries((scopes.data?.scopes ?? []).map((one) => [one.label, one]));
  return html`<div class="tools"><h1>Facts</h1>
      <div class="tabs" role="group" aria-label="type"><button aria-pressed=${!params.type} onClick=${() => set({ type: "" })}>all</button>${Object.entries(TYPES).slice(0, 5).map(([key, name]) => html`<button key=${key} aria-pressed=${params.type === key} title=${name} onClick=${() => set({ type: key })}>${key} ${name}</button>`)}</div>
      <label><input type="checkbox" checked=${!!params.ended} onChange=${(e) => set({ ended: e.target.checked ? "1" : "" })} />ended</label>
      ${can("memory_write") && html`<button class="main end" data-key="n" onClick=${() => write(true)}>New fact <kbd>n</kbd></button>`}</div>
    <${AsOf} params=${params} since=${Math.min(...opened)} set=${set} />
    ${!params.as_of && conflicts.data?.conflicts.length > 0 && html`<${Conflicts} conflicts=${conflicts.data.conflicts} />`}
    <${Loaded} of=${facts}>${(data) => {
      const shown = data.facts.filter((fact) => status === "all" || fact.state === "live");
      const groups = Map.groupBy(shown, (fact) => fact.scope ?? "");
      const order = [...groups.keys()].sort((a, b) => !!about[a]?.closed_at - !!about[b]?.closed_at || (a === "") - (b === "") || (about[b]?.touched_at ?? "").localeCompare(about[a]?.touched_at ?? ""));
      if (!shown.length)
        return html`<${Empty} title="No facts ${params.as_of ? "at that time" : "yet"}">Agents state them while they work. You can, too: <code>mnemos remember we use Redis streams for the mails</code><//>`;
      return html`<div class="board">${order.map((scope) => {
        const one = about[scope];
        const most = scope && !params.scope ? 40 : 5000;
        return html`<section key=${scope} class="panel" aria-label="scope ${scope || "none"}"><header><h2><${Line} text=${scope || "no scope"} most=${50} /></h2><span class="muted">${one ? (one.closed_at ? html`closed <${Time} at=${seconds(one.closed_at)} only=${dateOf} />` : "open") : ""} <span class="number">${num(groups.get(scope).length)}</span></span></header>
          <ul class="list aligned">${groups.get(scope).slice(0, most).map((fact) => html`<${Row} key=${fact.id} fact=${fact} />`)}</ul>${groups.get(scope).length > most && html`<a href=${to("facts", "", { ...params, scope })}>all</a>`}</section>`;
      })}</div>${data.total > data.facts.length && html`<p class="muted">and ${num(data.total - data.facts.length)} older ones</p>`}`;
    }}<//>
    ${isNew && html`<${Write} close=${() => write(false)} />`}`;
}

function Timeline({ facts }) {
  const starts = facts.map((fact) => seconds(fact.valid_from));
  const from = Math.min(...starts);
  const now = Date.now() / 1000;
  const span = Math.max(now - from, 1);
  return html`<div class="timeline" aria-hidden="true">${facts.map((fact, at) => {
    const until = seconds(fact.valid_to ?? fact.ended_at) ?? now;
    return html`<i key=${fact.id} class=${fact.state} style=${{ left: `${(100 * (starts[at] - from)) / span}%`, width: `max(4px, ${(100 * (until - starts[at])) / span}%)` }}></i>`;
  })}</div>`;
}

function Statement({ fact, conflicts = [], correct, doom }) {
  const isLive = fact.state === "live";
  return html`<li class="statement ${fact.state}" data-row tabindex="-1"><header class="row"><span><${Mark} fact=${fact} /> <b>${TYPES[fact.type]}</b> <span class="tag ${isLive ? "accent" : ""}">${isLive ? fact.tier : fact.state}</span> ${fact.scope && html`<span class="tag"><${Line} text=${fact.scope} most=${40} /></span>`}</span>
      <span class="muted"><code>${fact.id}</code></span></header>
    <${Stored} text=${fact.content} />
    <footer class="row"><span class="muted"><${Time} at=${seconds(fact.valid_from)} only=${dateOf} /> to ${fact.valid_to || fact.ended_at ? html`<${Time} at=${seconds(fact.valid_to ?? fact.ended_at)} only=${dateOf} />` : "now"} · stated by <${Line} text=${fact.stated_by ?? fact.actor} most=${30} />
      ${fact.message_id != null && html` · <a href=${to("sessions", `${fact.session_id ?? ""}@${fact.message_id}`)}>said in message ${fact.message_id}</a>`}${fact.superseded_by && ` · replaced by ${fact.superseded_by}`}
      ${conflicts.filter((one) => one.older.id === fact.id || one.newer.id === fact.id).map((one) => html` · <a key=${one.older.id + one.newer.id} href=${to("facts", ...bothOf(one))}>${one.newer.id} ${one.reason} ${one.older.id}</a>`)}</span>
    <span class="does">${isLive && can("memory_write") && html`<button class="plain" data-key="e" onClick=${() => correct(fact)}>correct</button>`}
      ${isLive && can("forget") && html`<button class="plain" onClick=${() => act("forget", { ref: fact.id })}>withdraw</button>`}
      ${can("forget") && html`<button class="plain" data-key="#" onClick=${() => doom(fact)}>erase</button>`}</span></footer></li>`;
}

function History({ target }) {
  const found = useCall("memory_history", { target, limit: 200 });
  const conflicts = useCall("facts_conflicts", { limit: 1000 });
  const [fact, correct] = useState(null);
  const [doomed, doom] = useState(null);
  return html`<a class="back" data-key="back" href=${to("facts")}>‹ Facts</a><h1><code><${Line} text=${target} most=${80} /></code></h1>
    <${Loaded} of=${found}>${(data) => html`<p class="muted">${plural(data.facts.length, "statement")}</p><${Timeline} facts=${data.facts} />
      <ol class="statements">${[...data.facts].reverse().map((one) => html`<${Statement} key=${one.id} fact=${one} conflicts=${conflicts.data?.conflicts} correct=${correct} doom=${doom} />`)}</ol>`}<//>
    ${fact && html`<${Write} fact=${fact} close=${() => correct(null)} />`}
    ${doomed && html`<${Forget} kind="fact" id=${doomed.id} close=${() => doom(null)} />`}`;
}

/** The address names a fact by its id: look for its target. */
function Lost({ id }) {
  const found = useCall("show", { id });
  const target = found.data?.explained?.fact?.target ?? found.data?.explained?.target;
  useEffect(() => {
    if (target) revise("facts", target);
  }, [target]);
  return html`<${Loaded} of=${found}>${() => !target && html`<${Empty} title="Not found">There is no fact ${id}.<//>`}<//>`;
}

export default function Facts({ rest, params }) {
  if (rest) return html`<div class="columns">${[rest, params.and].filter(Boolean).map((target) => html`<section key=${target}><${History} target=${target} /></section>`)}</div>`;
  return params.open ? html`<${Lost} id=${params.open} />` : html`<${Board} params=${params} />`;
}
