import {
  act, Button, bytes, Call, call, can, Check, Component, confirm, dateOf, edit, Empty, Field, Filter, forget, given, go,
  Head, html, line, Lost, num, Pager, patternOf, plural, Problem, range, revise, SessionLink, Stored, time, to,
  useCall, useEffect, useMemo, useRef, useState, visible,
} from "../forms.js";
import { Overview as Map, Store, VirtualList } from "../reader.js";

const PAGE = 50;
const FIRST = 50;

function Snippet({ text }) {
  const parts = String(text).replace(/\s+/g, " ").split(/>>>|<<</);
  return html`<bdi>${parts.map((part, at) => (at % 2 ? html`<mark>${visible(part)}</mark>` : visible(part)))}</bdi>`;
}

function Found({ params }) {
  return html`<${Call} name="sessions_search" args=${{ ...chosenBy({ ...params, archived: "" }), query: params.q, limit: 50 }}>${(data) =>
    data.hits.length === 0
      ? html`<${Empty}
        title="No message has these words">Word forms and accents don't matter. Quote a phrase, or use OR and -word.<//>`
      : html`<p class="muted">${plural(data.hits.length, "message")}${data.partial ? " with most of the words" : ""}</p>
        <ul class="list found">${data.hits.map((hit) => html`<li key=${hit.id} data-row tabindex="-1"><span
          class="grow"><a data-key="open" href=${to("sessions", `${hit.session_id}@${hit.id}`, { q: params.q })}><b>
          ${line(hit.title || hit.session_id)}</b></a><br /><${Snippet}
          text=${hit.snippet} /></span>
          <span class="muted number">${line(hit.source, 20)}<br />${time(hit.timestamp)}</span></li>`)}</ul>`}<//>`;
}

/** Sessions of one lineage below the newest of them. */
function groupByLineage(sessions) {
  const roots = {};
  for (const one of [...sessions].reverse()) roots[one.id] = roots[one.parent_session_id] ?? `=${one.id}`;
  return Object.values(Object.groupBy(sessions, (one) => roots[one.id])).flatMap((group) => group.map((one, at) => [one, at > 0]));
}

const chosenBy = ({ source, since, until, archived }) => given({ source, since, until, archived: !!archived });

function Row({ one, isBelow, isChosen, toggle }) {
  const isWriter = can("sessions_delete");
  return html`<tr data-row tabindex="-1" class=${isBelow ? "below" : ""}>
    ${isWriter && html`<td><input type="checkbox" data-key="x" aria-label="select ${one.title || one.id}"
      checked=${isChosen} onChange=${toggle} /></td>`}
    <td><a data-key="open" href=${to("sessions", one.id)}>${line(one.title || one.id)}</a>
      ${one.parent_session_id && html` <span class="tag" title="continues another conversation">continued</span>`}
      ${one.archived && html` <span class="tag">archived</span>`}</td>
    <td class="muted wide-only">${line(one.source, 24)}</td>
    <td class="number wide-only">${num(one.message_count)}</td>
    <td class="number muted">${time(one.started_at)}</td></tr>`;
}

function Listed({ params, set }) {
  const offset = Number(params.offset ?? 0);
  const filter = chosenBy(params);
  const isFiltered = Object.keys(filter).length > 0;
  const [chosen, choose] = useState([]);
  const toggle = (id) => choose((old) => (old.includes(id) ? old.filter((one) => one !== id) : [...old, id]));
  const chooseAll = () =>
    call("sessions_list", { limit: 1000, ...filter }).then(({ sessions }) => choose(sessions.map((one) => one.id)));
  const remove = () => {
    const args = chosen.length === 1 ? { session: chosen[0] } : { sessions: chosen };
    const done = () => act("sessions_delete", args).then(() => choose([]));
    const title = `Delete ${plural(chosen.length, "conversation")}`;
    confirm({ title, name: "sessions_delete", args, note: "This can be undone.", done });
  };
  return html`<${Call} name="sessions_list" args=${{ limit: PAGE, offset, ...filter }}>${({ sessions, total }) => {
    if (total === 0)
      return isFiltered
        ? html`<${Empty} title="No conversation matches">Clear the filter to see all of them.<//>`
        : html`<${Empty} title="No conversations yet" commands=${"mnemos import\nmnemos connect"}>Import those that are
            on this machine, or let a program record its own.<//>`;
    const isWriter = can("sessions_delete");
    const isWhole = sessions.every((one) => chosen.includes(one.id));
    const turn = () => choose(isWhole ? [] : sessions.map((one) => one.id));
    return html`${chosen.length > 0 && html`<div class="tools chosen" role="status"><b>
      ${plural(chosen.length, "conversation")}</b>
        <button data-key="#" onClick=${remove}>Delete <kbd>#</kbd></button>
        ${isWhole && chosen.length < total &&
        html`<button class="quiet" onClick=${chooseAll}>select ${total > 1000 ? "1,000" : `all ${num(total)}`}
          ${isFiltered ? " that match" : ""}</button>`}
        <button class="quiet" onClick=${() => choose([])}>none</button></div>`}
      <table class="sessions"><thead><tr>
          ${isWriter && html`<th><input type="checkbox" aria-label="select all on this page" checked=${isWhole}
            onChange=${turn} /></th>`}
          <th>title</th><th class="wide-only">source</th><th class="number wide-only">messages</th>
          <th class="number">started</th></tr></thead>
        <tbody>${groupByLineage(sessions).map(([one, isBelow]) => html`<${Row} key=${one.id} one=${one}
          isBelow=${isBelow}
          isChosen=${chosen.includes(one.id)} toggle=${() => toggle(one.id)} />`)}</tbody></table>
      <${Pager} names=${["Newer", "Older"]}
        back=${offset > 0 && (() => set({ offset: Math.max(0, offset - PAGE) || "" }))}
        on=${offset + PAGE < total && (() => set({ offset: offset + PAGE }))}>
        ${range(offset, sessions.length, total)}<//>`;
  }}<//>`;
}

const FILTERS = { q: "words in messages", source: "source", since: "since", until: "until" };

function List({ params }) {
  const set = (change) => revise("sessions", "", { ...params, offset: "", ...change });
  return html`<div class="tools"><h1 class="grow">Conversations</h1>
      <${Filter} fields=${FILTERS} params=${params} set=${set}><${Check} label="archived"
        isOn=${params.archived} pick=${(isOn) => set({ archived: isOn && "1" })} /><//></div>
    ${params.q
      ? html`<${Found} params=${params} />`
      : html`<${Listed} key=${JSON.stringify(params)} params=${params} set=${set} />`}`;
}

const FOLD = 600;
const lines = (text) => text.split("\n").length;

function Calls({ calls }) {
  const [isOpen, open] = useState(false);
  const list = typeof calls === "string" ? JSON.parse(calls) : calls;
  const named = list.map((one) => one.function?.name ?? one.name ?? "call");
  return html`<div class="calls"><button class="plain" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>
    ${isOpen ? "▾" : "▸"} ${plural(list.length, "call")}: ${line(named.join(", "))}</button>
    ${isOpen && list.map((one, at) => html`<pre key=${at} tabindex="0"><b>${line(named[at])}</b> <${Stored}
      text=${one.function?.arguments ?? JSON.stringify(one.arguments ?? one.input ?? one, null, 1)} isCode /></pre>`)}
      </div>`;
}

const asText = (content) => (content == null ? "" : typeof content === "string" ? content : JSON.stringify(content, null, 1));

/** Draws a message again only if something about it changed: a list that scrolls draws 60 times a second. */
class Kept extends Component {
  shouldComponentUpdate(next) {
    const isNew = ["number", "message", "isHere", "isChosen", "facts", "pattern"].some((key) => this.props[key] !== next[key]);
    return isNew || (!next.message && next.height !== this.props.height);
  }
  render(props) {
    return html`<${Message} ...${props} />`;
  }
}

function Content({ message, pattern }) {
  const [isOpen, open] = useState(false);
  const text = asText(message.content);
  if (message.role !== "tool" || text.length <= FOLD || isOpen)
    return html`<${Stored} text=${text} isCode=${message.role === "tool"} pattern=${pattern} />`;
  return html`<${Stored} text=${text.slice(0, 200)} isCode pattern=${pattern} />
    <button class="plain" onClick=${() => open(true)}>▸ ${plural(lines(text), "line")}, ${bytes(text.length)}</button>`;
}

function Message({ number, message, height, isHere, isChosen, toggle, facts, pattern }) {
  if (!message)
    return html`<article class="message coming" data-number=${number} style=${{ height: `${height}px` }}>
      <header class="muted"><span class="number">${num(number + 1)}</span></header></article>`;
  const state = `${isHere ? "here" : ""} ${isChosen ? "picked" : ""}`;
  return html`<article class="message ${message.role} ${state}" data-number=${number} data-row tabindex="-1"
      aria-label="message ${number + 1}, ${message.role}">
    <header><a class="number muted" title="link to this message"
        href=${to("sessions", `${message.session_id}@${message.id}`)}>${num(number + 1)}</a>
      <b>${line(message.role, 20)}</b>
      ${message.tool_name && html`<code>${line(message.tool_name)}</code>`}
      <span class="muted end">${time(message.timestamp)}</span>
      <${Button} needs="forget" class="plain muted" hint="x" aria-pressed=${isChosen}
        aria-label="select message ${number + 1}" onClick=${() => toggle(message.id)}>select<//>
      <${Button} needs="forget" class="plain muted" hint="#" aria-label="forget message ${number + 1}"
        onClick=${() => forget([`message:${message.id}`])}>forget<//></header>
    <${Content} message=${message} pattern=${pattern} />
    ${message.tool_calls?.length > 0 && html`<${Calls} calls=${message.tool_calls} />`}
    ${message.metadata && Object.keys(message.metadata).length > 0 &&
    html`<details class="muted"><summary>metadata</summary><${Stored}
      text=${JSON.stringify(message.metadata)} isCode /></details>`}
    ${facts && html`<p class="taken muted">facts taken from here: ${facts.map((fact) => html`<a key=${fact.id}
      href=${to("facts", fact.target)}><code>${fact.type}[${line(fact.target, 40)}]</code></a> `)}</p>`}
  </article>`;
}

const GUESS = 113;

/** A view before the outline is there: as many messages as there are, all of one height. */
const sketch = ({ total }) => ({ count: total, heights: new Float64Array(total).fill(GUESS), days: [] });

function unfold(outline, width) {
  const perLine = Math.max(30, Math.min(80, (width - 48) / 7.2));
  let id = 0;
  const ids = outline.steps.map((step) => (id += step));
  const roles = outline.roles.map((role) => outline.role_names[role]);
  const heights = outline.sizes.map((size, at) => {
    const shown = Math.min(size, roles[at] === "tool" ? 240 : 4000);
    return 53 + 20 * Math.ceil(shown / perLine || 1);
  });
  return { count: ids.length, ids, roles, heights, days: outline.days };
}

function findNumber(ids, id) {
  let low = 0;
  let high = ids.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ids[middle] < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function useView(view) {
  const [, draw] = useState(0);
  useEffect(() => {
    const one = () => draw((n) => n + 1);
    view.told.add(one);
    return () => view.told.delete(one);
  }, []);
}

function Place({ view, outline }) {
  useView(view);
  const today = outline.days.findLast((one) => one.position <= view.from)?.date;
  return html`<span class="muted end number">${today ? `${dateOf(Date.parse(today) / 1000)} · ` : ""}
    ${num(view.from + 1)} of ${num(outline.count)}</span>`;
}

function Side({ view, outline, hits, jump }) {
  useView(view);
  if (!outline.roles) return outline.count > FIRST && html`<div class="map"></div>`;
  return view.until - view.from + 1 < outline.count && html`<${Map} roles=${outline.roles} days=${outline.days}
    hits=${hits}
    from=${view.from} until=${view.until} jump=${jump} />`;
}

/** The messages of a conversation and its outline, asked for together: the first messages don't wait. */
function useMessages(id, at, width) {
  const [outline, set] = useState(null);
  const [error, fail] = useState(null);
  const [turn, again] = useState(0);
  const [, draw] = useState(0);
  const page = (from, limit) => call("sessions_messages", { session: id, at: from, limit }).then((found) => found.messages);
  const store = useMemo(() => new Store(page, () => draw((n) => n + 1)), [id, turn]);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const where = at ? { around: Number(at) } : { at: 0 };
    call("sessions_messages", { session: id, ...where, limit: FIRST }, { signal }).then((found) => {
      store.begin(found.start, found.messages);
      set((old) => old ?? { ...sketch(found), place: found.start + found.messages.findIndex((one) => one.id === Number(at)) });
    }, () => {});
    call("sessions_outline", { session: id }, { signal }).then(
      (found) => set(unfold(found, width())),
      (problem) => signal.aborted || fail(problem),
    );
    return () => stop.abort();
  }, [id, turn]);
  useEffect(() => {
    const reload = () => again((n) => n + 1);
    window.addEventListener("mnemos:changed", reload);
    return () => window.removeEventListener("mnemos:changed", reload);
  }, []);
  return { outline, error, store };
}

function useHits(id, q, outline) {
  const search = useCall("sessions_search", { query: q, session: [id], limit: 1000, sort: "oldest" }, { skip: !q });
  return useMemo(() => {
    const found = search.data?.hits ?? [];
    const words = found.flatMap((hit) => [...hit.snippet.matchAll(/>>>(.*?)<<</g)].map((one) => one[1].toLowerCase()));
    const hits = outline?.ids ? found.map((one) => findNumber(outline.ids, one.id)).sort((a, b) => a - b) : [];
    return { hits, pattern: patternOf([...new Set(words)].slice(0, 100)) };
  }, [search.data, outline]);
}

function Hits({ hits, hit, step }) {
  const count = hits.length >= 1000 ? "1,000 hits and more" : plural(hits.length, "hit");
  const shown = hit < 0 ? count : `${num(hit + 1)} of ${num(hits.length)}`;
  return html`<span class="muted" role="status">${hits.length ? shown : "no hit"}</span>
    <button class="quiet" data-key="[" disabled=${!hits.length} onClick=${() => step(-1)}>previous <kbd>[</kbd></button>
    <button class="quiet" data-key="]" disabled=${!hits.length} onClick=${() => step(1)}>next <kbd>]</kbd></button>`;
}

function Reader({ id, at, params }) {
  const frame = useRef();
  const { outline, error, store } = useMessages(id, at, () => frame.current?.clientWidth ?? 800);
  const view = useRef({ from: 0, until: 0, told: new Set(), placed: "" }).current;
  const [place, put] = useState(null);
  const [chosen, choose] = useState([]);
  const [hit, pick] = useState(-1);
  const { hits, pattern } = useHits(id, params.q, outline);
  const stated = useCall("facts_list", { said_in: id, status: "everything" }, { skip: !outline?.ids || !can("facts_list") });
  const taken = useMemo(() => Object.groupBy(stated.data?.facts ?? [], (fact) => fact.message_id), [stated.data]);
  const toggle = (one) => choose((old) => (old.includes(one) ? old.filter((other) => other !== one) : [...old, one]));
  const jump = (index, offset = 0) => put({ index, offset });
  useEffect(() => {
    if (!outline || !at || view.placed === at || (!outline.ids && outline.place < 0)) return;
    jump(outline.ids ? findNumber(outline.ids, Number(at)) : outline.place, -8);
    view.placed = at;
  }, [outline, at]);
  const step = (by) => {
    const after = hits.findIndex((one) => one >= view.from);
    const before = hits.findLastIndex((one) => one < view.from);
    const which = Math.max(0, Math.min(hits.length - 1, hit < 0 ? (by > 0 ? after : before) : hit + by));
    pick(which);
    jump(hits[which], -8);
  };
  const moved = (from, until) => {
    if (from === view.from && until === view.until) return;
    Object.assign(view, { from, until });
    for (const one of view.told) one();
  };
  const draw = (number, message, height) => html`<${Kept} key=${number} number=${number} message=${message}
    height=${height}
    isHere=${!!message && message.id === Number(at)} isChosen=${!!message && chosen.includes(message.id)}
      pattern=${pattern}
    facts=${taken[message?.id]} toggle=${toggle} />`;
  const forgetChosen = () => forget(chosen.map((one) => `message:${one}`), () => choose([]));
  if (error) return html`<${Problem} error=${error} />`;
  return html`<div class="tools reading" ref=${frame}>
      <form role="search" aria-label="in this conversation" onSubmit=${(e) => e.preventDefault()}>
        <${Field} class="long" type="search" aria-label="words in this conversation"
          placeholder="words in this conversation"
          value=${params.q} commit=${(q) => (pick(-1), revise("sessions", at ? `${id}@${at}` : id, { q }))} /></form>
      ${params.q && html`<${Hits} hits=${hits} hit=${hit} step=${step} />`}
      ${chosen.length > 0 && html`<span role="status"><b>${plural(chosen.length, "message")}</b></span>
        <button onClick=${forgetChosen}>Forget…</button><button class="quiet"
          onClick=${() => choose([])}>none</button>`}
      ${outline && html`<${Place} view=${view} outline=${outline} />`}</div>
    ${!outline && html`<div class="waiting" aria-busy="true"></div>`}
    ${outline?.count === 0 && html`<${Empty} title="No messages">Nothing was said in this conversation.<//>`}
    ${outline?.count > 0 && html`<div class="conversation">
      <${VirtualList} heights=${outline.heights} store=${store} place=${place} label="messages" moved=${moved}
        row=${draw} />
      <${Side} view=${view} outline=${outline} hits=${hits} jump=${jump} /></div>`}`;
}

function Lineage({ shown, id }) {
  return html` · lineage: ${shown.map((other, number) => html`${number > 0 && " → "}${other.id === id
    ? html`<b>${line(other.title || other.short_id, 30)}</b>`
    : html`<${SessionLink} id=${other.id} title=${other.title || other.short_id} />`}`)}`;
}

function About({ one, lineage }) {
  const mark = one.archived ? "sessions_unarchive" : "sessions_archive";
  const session = one.id;
  const rename = () => edit({
    title: "Rename this conversation", fields: [{ name: "title" }], values: { title: one.title ?? "" },
    save: ({ title }) => act("sessions_title", { session, title }),
  });
  const remove = () => confirm({
    title: "Delete this conversation", name: "sessions_delete", args: { session }, note: "This can be undone.",
    done: () => act("sessions_delete", { session }).then((done) => done && go("sessions")),
  });
  return html`<${Head} ...${PLACE} title=${line(one.title || one.id)}>
      <${Button} needs="sessions_title" hint="e" onClick=${rename}>rename <kbd>e</kbd><//>
      <${Button} needs=${mark} onClick=${() => act(mark, { session })}>${mark.slice(9)}<//>
      <${Button} needs="sessions_delete" onClick=${remove}>delete<//><//>
    <p class="muted facts-line">${line(one.source, 30)} ·
      ${one.model && html` ${line(one.model, 40)} ·`} ${time(one.started_at)} ·
      ${` ${plural(one.message_count, "message")}`}${one.project && html` · ${line(one.project)}`}
      ${lineage.data?.shown.length > 1 && html`<${Lineage} shown=${lineage.data.shown} id=${session} />`}</p>`;
}

const PLACE = { page: "sessions", name: "Conversations" };

function Conversation({ id, at, params }) {
  const shown = useCall("sessions_show", { session: id, tail: 1 });
  const lineage = useCall("sessions_lineage", { session: id });
  const one = shown.data?.session;
  return html`<div class="about">${one ? html`<${About} one=${one} lineage=${lineage} />` : html`<${Head} ...${PLACE} title="Conversation" />`}
      ${shown.error && html`<${Problem} error=${shown.error} />`}</div>
    ${!shown.error && html`<${Reader} key=${id} id=${id} at=${at} params=${params} />`}`;
}

export default function Conversations({ rest, params }) {
  const cut = rest.lastIndexOf("@");
  const id = cut < 0 ? rest : rest.slice(0, cut);
  const at = cut < 0 ? "" : rest.slice(cut + 1);
  if (!rest) return html`<${List} params=${params} />`;
  if (id) return html`<${Conversation} id=${id} at=${at} params=${params} />`;
  return html`<${Lost} key=${at} id="message:${at}" find=${({ session }) => ["sessions", `${session.session.id}@${at}`]} />`;
}
