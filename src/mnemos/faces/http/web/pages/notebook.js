import { act, call, can, changed, mayWrite, toast, useCall } from "../core.js";
import { Dialog, Empty, Line, Loaded, Meter, Problem, Stored, Time, focused, num, plural } from "../ui.js";
import { html, useState } from "../vendor/preact.js";
import { Diff } from "./log.js";

const NAMES = { memory: "Notes", user: "About you" };
const FILES = { memory: "MEMORY.md", user: "USER.md" };
const join = (entries) => entries.join("\n§\n");

function Editor({ file, close }) {
  // As it was when the editor was opened, however often the file is read again meanwhile.
  const [{ draft, version }] = useState({ draft: join(file.entries), version: file.version });
  const [text, type] = useState(draft);
  const [error, fail] = useState(null);
  const save = async (event) => {
    event.preventDefault();
    try {
      const args = { target: file.target, text, ...(version != null && { base: version }) };
      const done = await call("notebook_edit", args, { log: true });
      const said = done.merged ? "Saved, and merged with what was changed meanwhile." : "Saved.";
      toast(said, { undo: can("undo") ? done.log_entries : [] });
      changed();
      close();
    } catch (problem) {
      fail(problem);
    }
  };
  return html`<form class="form" onSubmit=${save}>
    <p class="muted">Entries are separated by a line with only §.</p>
    <label class="unseen" for="edit-${file.target}">${NAMES[file.target]}</label>
    <textarea id="edit-${file.target}" ref=${focused} rows=${Math.min(24, text.split("\n").length + 3)}
      value=${text} onInput=${(e) => type(e.target.value)}
      onKeyDown=${(e) => (e.key === "Escape" ? close() : e.key === "Enter" && (e.ctrlKey || e.metaKey) && save(e))}></textarea>
    <${Meter} label="Used" used=${[...text.trim()].length} limit=${file.limit} unit="characters" />
    ${error && html`<${Problem} error=${error} />`}
    <footer class="does"><button class="main"
      disabled=${text === draft || !text.trim()}>Save <kbd>Ctrl ⏎</kbd></button><button type="button"
      onClick=${close}>Cancel</button></footer>
  </form>`;
}

function Versions({ target, close }) {
  const found = useCall("notebook_versions", { target });
  const [at, pick] = useState(0);
  return html`<${Dialog} title="Versions of ${FILES[target]}" close=${close} wide><${Loaded} of=${found}>
    ${({ versions }) => {
    if (versions.length < 2) return html`<${Empty}
      title="No earlier version">Every change of the file is kept from now on.<//>`;
    const chosen = versions[Math.min(at, versions.length - 1)];
    const before = versions[at + 1];
    return html`<div class="versions"><ul class="list" aria-label="versions">
      ${versions.map((one, index) => html`<li key=${one.version}><button class="plain"
      aria-pressed=${index === at} onClick=${() => pick(index)}><${Time} at=${one.at} /> <span class="muted">
      <${Line} text=${one.actor} most=${24} /></span></button></li>`)}</ul>
      <div><${Diff} before=${before?.text ?? ""} after=${chosen.text} />
      ${at > 0 && mayWrite("notebook_edit") && html`<footer><button class="main"
        onClick=${() => act("notebook_edit", { target, text: chosen.text }, { said: () => "Restored." }).then(close)}>Restore this version</button></footer>`}
        </div></div>`;
  }}<//></${Dialog}>`;
}

function Optimize({ close }) {
  const found = useCall("memory_optimize", { dry_run: true, threshold_pct: 0 });
  return html`<${Dialog} title="Make room in the notebook" close=${close} wide><${Loaded} of=${found}>${(data) =>
    data.steps.length === 0
      ? html`<p>There is nothing to shorten or to move into facts.</p>`
      : html`<p class="muted">${plural(data.steps.length, "step")} would be taken.</p><${Stored} text=${data.text} />
        <footer><button class="main"
          onClick=${() => (close(), act("memory_optimize", { threshold_pct: 0 }))}>Do it</button></footer>`}
          <//></${Dialog}>`;
}

function File({ file, opened }) {
  const [isOpen, edit] = useState(false);
  const [isPast, look] = useState(false);
  return html`<section class="panel" aria-labelledby="file-${file.target}"><header><h2 id="file-${file.target}">
    ${NAMES[file.target]} <span class="muted small">${FILES[file.target]}</span></h2>
      <span class="does">${can("notebook_versions") && html`<button class="plain"
        onClick=${() => look(true)}>versions</button>`}${mayWrite("notebook_edit") && !isOpen && html`<button
        class="plain" data-key="e" onClick=${() => edit(true)}>edit <kbd>e</kbd></button>`}</span></header>
    ${isOpen ? html`<${Editor} file=${file} close=${() => edit(false)} />` : html`<${Meter} label="Used"
      used=${file.used} limit=${file.limit} unit="characters" />
      ${file.entries.length === 0 ? html`<p
        class="muted">Empty. Notes here go into every prompt.</p>` : html`<ul class="notes">
        ${file.entries.map((entry, at) => html`<li key=${at} data-row tabindex="-1"
        class=${opened && entry.startsWith(opened) ? "here" : ""}><${Stored} text=${entry} /></li>`)}</ul>`}`}
    ${isPast && html`<${Versions} target=${file.target} close=${() => look(false)} />`}</section>`;
}

export default function Notebook({ params }) {
  const found = useCall("notebook_show");
  const overview = useCall("overview", {}, { skip: !can("overview") });
  const cost = overview.data?.prompt.find((one) => one.name === "notes");
  const [isOpen, open] = useState(false);
  return html`<div class="tools"><h1>Notebook</h1>
      ${cost && html`<span class="muted">
        ${num(cost.tokens)} of ${num(cost.limit)} tokens in every prompt</span>`}${mayWrite("memory_optimize") && html`<button
        class="end" onClick=${() => open(true)}>Make room…</button>`}</div>
    <${Loaded} of=${found}>${(data) => html`<div class="columns">${data.files.map((file) => html`<${File}
      key=${file.target} file=${file} opened=${params.open} />`)}</div>`}<//>
    ${isOpen && html`<${Optimize} close=${() => open(false)} />`}`;
}
