import { act, can, revise, useCall } from "../core.js";
import { Confirm, findStake } from "../confirm.js";
import { Dialog, Empty, Field, Line, Loaded, Stored, Time, num, visible } from "../ui.js";
import { html, useState } from "../vendor/preact.js";

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

function Entry({ id, undo, close }) {
  const found = useCall("log", { entry: id });
  return html`<${Dialog} title="Change ${id}" close=${close} wide>
    <${Loaded} of=${found}>${({ entries: [one] }) => html`
      <p class="muted"><${Line} text=${one.operation} /> · <${Line} text=${one.actor} /> · <${Time}
        at=${one.at} />${" · "}
        <code><${Line} text=${one.ref} /></code></p>
      ${one.before == null && one.after == null
        ? html`<p>The log keeps no text of this change.</p>`
        : html`<${Diff} before=${pretty(one.before)} after=${pretty(one.after)} />`}
      ${can("undo") && one.can_undo &&
      html`<footer><button class="main"
        onClick=${() => (close(), undo(one.id))}>Undo this change</button></footer>`}`}<//>
  </${Dialog}>`;
}

function What({ one }) {
  if (one.what) return html`<${Line} text=${one.what} most=${160} />`;
  const text = one.after ?? one.before ?? "";
  return html`<code><${Line} text=${one.short_ref} most=${40} /></code>
    <span class="muted"> <${Line} text=${/^[[{]/.test(text) ? "" : text} most=${80} /></span>`;
}

function Row({ one, open, undo }) {
  return html`<li data-row tabindex="-1" class=${one.undone_by ? "gone" : ""}>
    <span class="number muted">${one.id}</span>
    <button class="plain" data-key="open" onClick=${open}>${one.operation}</button>
    <span class="what"><${What} one=${one} /></span>
    <span class="muted"><${Line} text=${one.actor} most=${24} /></span>
    <span class="number muted"><${Time} at=${one.at} /></span>
    ${one.undone_by
      ? html`<span class="tag">undone by ${one.undone_by}</span>`
      : can("undo") && one.can_undo && html`<button class="plain" onClick=${undo}>undo</button>`}</li>`;
}

export default function Log({ params }) {
  const before = params.before ? Number(params.before) : null;
  const isFiltered = !!(params.actor || params.part);
  const limit = isFiltered ? 1000 : PAGE;
  const found = useCall("log", { limit, ...(before != null && { before }) });
  const [doomed, doom] = useState(null);
  const set = (change) => revise("log", "", { ...params, ...change });
  const opened = params.entry ? Number(params.entry) : null;
  const undo = async (entry) => {
    // An undo that deletes something asks first.
    const stake = await findStake("undo", { entry }).catch(() => "");
    if (stake) doom(entry);
    else act("undo", { entry });
  };
  const isWanted = (one) =>
    (!params.actor || one.actor.includes(params.actor)) && (!params.part || one.operation.includes(params.part));
  return html`<div class="tools"><h1>Log</h1>
      <form class="tools end filters" role="search" aria-label="filter" onSubmit=${(e) => e.preventDefault()}>
        <${Field} class="short" aria-label="actor" placeholder="actor" value=${params.actor}
          commit=${(value) => set({ actor: value })} />
        <${Field} class="short" aria-label="part" placeholder="part" value=${params.part}
          commit=${(value) => set({ part: value })} /></form></div>
    <${Loaded} of=${found}>${({ entries }) => {
      const rows = entries.filter(isWanted);
      if (!entries.length)
        return html`<${Empty} title="No changes yet">Every change of facts, notes, tables and settings of
          conversations is listed here, and most can be undone. Messages are not listed.<//>`;
      if (!rows.length)
        return html`<${Empty}
          title="No change matches">None of ${num(entries.length)} changes does. Clear the filter to see them.<//>`;
      return html`<ul class="changes">${rows.map((one) => html`<${Row} key=${one.id} one=${one}
          open=${() => set({ entry: one.id })} undo=${() => undo(one.id)} />`)}</ul>
        <div class="tools pager">
          <button data-key="[" disabled=${before == null} onClick=${() => set({ before: "" })}>Newest</button>
          <button data-key="]" disabled=${entries.length < limit}
            onClick=${() => set({ before: entries.at(-1).id })}>Older</button></div>`;
    }}<//>
    ${opened != null && html`<${Entry} key=${opened} id=${opened} undo=${undo} close=${() => set({ entry: "" })} />`}
    ${doomed != null && html`<${Confirm} title="Undo change ${doomed}" name="undo" args=${{ entry: doomed }} verb="Undo"
      close=${() => doom(null)} done=${() => act("undo", { entry: doomed })} />`}`;
}
