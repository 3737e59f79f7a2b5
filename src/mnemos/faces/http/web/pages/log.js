import { act, can, revise, to, useCall } from "../core.js";
import { Dialog, Empty, Field, Line, Loaded, Stored, Time, num } from "../ui.js";
import { html } from "../vendor/preact.js";

const PAGE = 100;

export function Diff({ before, after }) {
  const a = (before ?? "").split(/(\s+)/);
  const b = (after ?? "").split(/(\s+)/);
  if (a.length * b.length > 250000) return html`<div class="diff"><del><${Stored} text=${before} /></del><ins><${Stored} text=${after} /></ins></div>`;
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) rows[i][j] = a[i] === b[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
  const parts = [];
  const add = (kind, text) => (parts.at(-1)?.[0] === kind ? (parts.at(-1)[1] += text) : parts.push([kind, text]));
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) add("same", a[i++], j++);
    else if (j >= b.length || (i < a.length && rows[i + 1][j] >= rows[i][j + 1])) add("del", a[i++]);
    else add("ins", b[j++]);
  }
  return html`<div class="diff stored" dir="auto">${parts.map(([kind, text], at) => (kind === "same" ? html`<span key=${at}>${text}</span>` : kind === "del" ? html`<del key=${at}>${text}</del>` : html`<ins key=${at}>${text}</ins>`))}</div>`;
}

const pretty = (text) => {
  try {
    return text == null ? "" : JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
};

function Entry({ id, close }) {
  const found = useCall("log", { entry: id });
  return html`<${Dialog} title="Change ${id}" close=${close} wide>
    <${Loaded} of=${found}>${({ entries: [one] }) => html`<p class="muted"><${Line} text=${one.operation} /> · <${Line} text=${one.actor} /> · <${Time} at=${one.at} /> · <code><${Line} text=${one.ref} /></code></p>
      ${one.before == null && one.after == null ? html`<p>The log keeps no text of this change.</p>` : html`<${Diff} before=${pretty(one.before)} after=${pretty(one.after)} />`}
      ${can("undo") && !one.undone_by && html`<footer><button class="main" onClick=${() => (close(), act("undo", { entry: one.id }, { canUndo: false }))}>Undo this change</button></footer>`}`}<//>
  </${Dialog}>`;
}

export default function Log({ params }) {
  const before = params.before ? Number(params.before) : null;
  const found = useCall("log", { limit: PAGE, ...(before != null && { before }) });
  const set = (change) => revise("log", "", { ...params, ...change });
  const opened = params.entry ? Number(params.entry) : null;
  return html`<div class="tools"><h1>Log</h1><form class="tools end filters" role="search" aria-label="filter" onSubmit=${(e) => e.preventDefault()}>
      <${Field} class="short" aria-label="actor" placeholder="actor" value=${params.actor} commit=${(value) => set({ actor: value })} />
      <${Field} class="short" aria-label="part" placeholder="part" value=${params.part} commit=${(value) => set({ part: value })} /></form></div>
    <${Loaded} of=${found}>${(data) => {
      const rows = data.entries.filter((one) => (!params.actor || one.actor.includes(params.actor)) && (!params.part || one.operation.includes(params.part)));
      if (!data.entries.length) return html`<${Empty} title="No changes yet">Every change of facts, notes, tables and settings of conversations is listed here, and most can be undone. Messages are not listed.<//>`;
      if (!rows.length) return html`<${Empty} title="None of these changes fits">Clear the filter to see ${num(data.entries.length)} changes.<//>`;
      return html`<ul class="changes">${rows.map((one) => html`<li key=${one.id} data-row tabindex="-1" class=${one.undone_by ? "gone" : ""}>
          <span class="number muted">${one.id}</span>
          <button class="plain" data-key="open" onClick=${() => set({ entry: one.id })}>${one.operation}</button>
          <span class="what"><code><${Line} text=${one.short_ref} most=${40} /></code> <span class="muted"><${Line} text=${/^[[{]/.test(one.after ?? one.before) ? "" : (one.after ?? one.before)} most=${80} /></span></span>
          <span class="muted"><${Line} text=${one.actor} most=${24} /></span><span class="number muted"><${Time} at=${one.at} /></span>
          ${can("undo") && (one.undone_by ? html`<span class="tag">undone by ${one.undone_by}</span>` : html`<button class="plain" onClick=${() => act("undo", { entry: one.id }, { canUndo: false })}>undo</button>`)}</li>`)}</ul>
        <div class="tools pager"><button data-key="[" disabled=${before == null} onClick=${() => set({ before: "" })}>Newest</button><button data-key="]" disabled=${data.entries.length < PAGE} onClick=${() => set({ before: data.entries.at(-1).id })}>Older</button></div>`;
    }}<//>
    ${opened != null && html`<${Entry} key=${opened} id=${opened} close=${() => set({ entry: "" })} />`}`;
}
