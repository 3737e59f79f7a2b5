import {
  act, Call, can, confirm, Dialog, Empty, Filter, findStake, given, html, line, num, Pager, revise, show, Stored, time,
  useLayoutEffect, visible,
} from "../forms.js";

const PAGE = 100;

export function Diff({ before, after }) {
  const a = (before ?? "").split(/(\s+)/);
  const b = (after ?? "").split(/(\s+)/);
  if (a.length * b.length > 250000)
    return html`<div class="diff"><del><${Stored} text=${before} /></del><ins><${Stored} text=${after} /></ins></div>`;
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      rows[i][j] = a[i] === b[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
  const parts = [];
  const add = (kind, text) => (parts.at(-1)?.[0] === kind ? (parts.at(-1)[1] += text) : parts.push([kind, text]));
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) add("same", a[i++], j++);
    else if (j >= b.length || (i < a.length && rows[i + 1][j] >= rows[i][j + 1])) add("del", a[i++]);
    else add("ins", b[j++]);
  }
  const tags = { same: "span", del: "del", ins: "ins" };
  return html`<div class="diff stored" dir="auto">${parts.map(
    ([kind, text], at) => html`<${tags[kind]} key=${at}>${visible(text)}</${tags[kind]}>`,
  )}</div>`;
}

const pretty = (text) => {
  try {
    return text == null ? "" : JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
};

async function undo(entry) {
  // An undo that deletes something asks first.
  const text = await findStake("undo", { entry }).catch(() => "");
  if (text) confirm({ title: `Undo change ${entry}`, text, name: "undo", args: { entry }, verb: "Undo" });
  else act("undo", { entry });
}

function Entry({ id, close }) {
  return html`<${Dialog} title="Change ${id}" close=${close} wide>
    <${Call} name="log" args=${{ entry: id }}>${({ entries: [one] }) => html`
      <p class="muted">${line(one.operation)} · ${line(one.actor)} · ${time(one.at)}${" · "}
        <code>${line(one.ref)}</code></p>
      ${one.before == null && one.after == null
        ? html`<p>The log keeps no text of this change.</p>`
        : html`<${Diff} before=${pretty(one.before)} after=${pretty(one.after)} />`}
      ${can("undo") && one.can_undo &&
      html`<footer><button class="main"
        onClick=${() => (close(), undo(one.id))}>Undo this change</button></footer>`}`}<//>
  </${Dialog}>`;
}

function What({ one }) {
  if (one.what) return line(one.what, 160);
  const text = one.after ?? one.before ?? "";
  return html`<code>${line(one.short_ref, 40)}</code>
    <span class="muted"> ${line(/^[[{]/.test(text) ? "" : text, 80)}</span>`;
}

function Row({ one, open }) {
  return html`<li data-row tabindex="-1" class=${one.undone_by ? "gone" : ""}>
    <span class="number muted">${one.id}</span>
    <button class="plain" data-key="open" onClick=${open}>${one.operation}</button>
    <span class="what"><${What} one=${one} /></span>
    <span class="muted">${line(one.actor, 24)}</span>
    <span class="number muted">${time(one.at)}</span>
    ${one.undone_by
      ? html`<span class="tag">undone by ${one.undone_by}</span>`
      : can("undo") && one.can_undo && html`<button class="plain" onClick=${() => undo(one.id)}>undo</button>`}</li>`;
}

const FILTERS = { actor: "actor", part: "operation" };

export default function Log({ params }) {
  const before = params.before ? Number(params.before) : null;
  const isFiltered = !!(params.actor || params.part);
  const limit = isFiltered ? 1000 : PAGE;
  const set = (change) => revise("log", "", { ...params, ...change });
  const { entry } = params;
  useLayoutEffect(() => {
    if (!entry) return;
    show(() => html`<${Entry} key=${entry} id=${Number(entry)} close=${() => set({ entry: "" })} />`);
    return () => show(null);
  }, [entry]);
  const isWanted = (one) =>
    (!params.actor || one.actor.includes(params.actor)) && (!params.part || one.operation.includes(params.part));
  return html`<div class="tools"><h1 class="grow">Log</h1><${Filter} fields=${FILTERS} params=${params} set=${set} />
    </div>
    <${Call} name="log" args=${{ limit, ...given({ before }) }}>${({ entries }) => {
      const rows = entries.filter(isWanted);
      if (!entries.length)
        return html`<${Empty} title="No changes yet" commands="mnemos remember we use Redis streams for the emails">Changes
          to facts, notes, tables and conversations are listed here, and most can be undone. New messages are not
          listed. A first change:<//>`;
      if (!rows.length)
        return html`<${Empty}
          title="No change matches">None of ${num(entries.length)} changes does. Clear the filter to see them.<//>`;
      return html`<ul class="changes">${rows.map((one) => html`<${Row} key=${one.id} one=${one}
          open=${() => set({ entry: one.id })} />`)}</ul>
        <${Pager} names=${["Newest", "Older"]} back=${before != null && (() => set({ before: "" }))}
          on=${entries.length >= limit && (() => set({ before: entries.at(-1).id }))} />`;
    }}<//>`;
}
