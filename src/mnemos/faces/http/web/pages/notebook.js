import {
  act, Button, Call, call, can, changed, Dialog, Empty, focused, html, line, mayWrite, Meter, num, Panel, plural,
  Problem, show, Stored, time, toast, useCall, useState,
} from "../forms.js";
import { Diff } from "./log.js";

const NAMES = { memory: "Notes", user: "About you" };
const FILES = { memory: "MEMORY.md", user: "USER.md" };
const EXAMPLES = { memory: '"Deploys go through make deploy."', user: '"Prefers short answers."' };
const join = (entries) => entries.join("\n§\n");

function Editor({ file, close }) {
  // As it was when the editor was opened, however often the file is read again in the meantime.
  const [{ draft, version }] = useState({ draft: join(file.entries), version: file.version });
  const [text, type] = useState(draft);
  const [error, fail] = useState(null);
  const save = async (event) => {
    event.preventDefault();
    try {
      const args = { target: file.target, text, ...(version != null && { base: version }) };
      const done = await call("notebook_edit", args, { log: true });
      const said = done.merged ? "Saved, and merged with what was changed in the meantime." : "Saved.";
      toast(said, { undo: can("undo") ? done.log_entries : [] });
      changed();
      close();
    } catch (problem) {
      fail(problem);
    }
  };
  return html`<form class="form" onSubmit=${save}>
    <p class="muted">Separate entries with a line that contains only §.</p>
    <label class="unseen" for="edit-${file.target}">${NAMES[file.target]}</label>
    <textarea id="edit-${file.target}" ref=${focused} rows=${Math.min(24, text.split("\n").length + 3)}
      value=${text} onInput=${(e) => (type(e.target.value), fail(null))}
      onKeyDown=${(e) => (e.key === "Escape" ? close() : e.key === "Enter" && (e.ctrlKey || e.metaKey) && save(e))}></textarea>
    <${Meter} label="used" used=${[...text.trim()].length} limit=${file.limit} unit="characters" />
    ${error && html`<${Problem} error=${error} />`}
    <footer class="does"><button class="main"
      disabled=${text === draft || !text.trim()}>Save <kbd>Ctrl ⏎</kbd></button><button type="button"
      onClick=${close}>Cancel</button></footer>
  </form>`;
}

function Versions({ target }) {
  const [at, pick] = useState(0);
  const restore = (text) => {
    show(null);
    act("notebook_edit", { target, text }, { said: () => "Restored." });
  };
  return html`<${Dialog} title="Versions of ${FILES[target]}" wide><${Call} name="notebook_versions" args=${{ target }}>${({ versions }) => {
    if (versions.length < 2)
      return html`<${Empty} title="No earlier version">Every change of the file is kept from now on.<//>`;
    const chosen = versions[Math.min(at, versions.length - 1)];
    return html`<div class="versions"><ul class="list" aria-label="versions">${versions.map((one, index) => html`<li
        key=${one.version}><button class="plain" aria-pressed=${index === at} onClick=${() => pick(index)}>${time(one.at)} <span class="muted">${line(one.actor, 24)}</span></button></li>`)}</ul>
      <div><${Diff} before=${versions[at + 1]?.text ?? ""} after=${chosen.text} />
      ${at > 0 && mayWrite("notebook_edit") && html`<footer><button class="main"
        onClick=${() => restore(chosen.text)}>Restore this version</button></footer>`}</div></div>`;
  }}<//></${Dialog}>`;
}

function Optimize() {
  const begin = () => {
    show(null);
    act("memory_optimize", { threshold_pct: 0 });
  };
  return html`<${Dialog} title="Make room in the notebook" wide><${Call} name="memory_optimize" text args=${{ dry_run: true, threshold_pct: 0 }}>${(data) =>
    data.steps.length === 0
      ? html`<p>There is nothing to shorten or to move into facts.</p>`
      : html`<p class="muted">${plural(data.steps.length, "step")} would be taken.</p><${Stored} text=${data.text} />
        <footer><button class="main" onClick=${begin}>Make room</button></footer>`}<//></${Dialog}>`;
}

function File({ file, opened }) {
  const [isOpen, edit] = useState(false);
  const { target, entries } = file;
  const look = () => show(() => html`<${Versions} target=${target} />`);
  const does = html`<span class="does">
    <${Button} needs="notebook_versions" onClick=${look}>versions<//>
    ${mayWrite("notebook_edit") && !isOpen && html`<button class="plain" data-key="e"
      onClick=${() => edit(true)}>edit <kbd>e</kbd></button>`}</span>`;
  return html`<${Panel} id="file-${target}" title=${html`${NAMES[target]} <span
    class="muted small">${FILES[target]}</span>`} more=${does}>
    ${isOpen
      ? html`<${Editor} file=${file} close=${() => edit(false)} />`
      : html`<${Meter} label="used" used=${file.used} limit=${file.limit} unit="characters" />
        ${entries.length === 0
          ? html`<p class="muted">Empty. The text here goes into every prompt.</p>
              <pre tabindex="0">mnemos notebook add ${target} ${EXAMPLES[target]}</pre>`
          : html`<ul class="notes">${entries.map((entry, at) => html`<li key=${at} data-row tabindex="-1"
              class=${opened && entry.startsWith(opened) ? "here" : ""}><${Stored} text=${entry} /></li>`)}</ul>`}`}<//>`;
}

export default function Notebook({ params }) {
  const overview = useCall("overview", {}, { skip: !can("overview") });
  const cost = overview.data?.prompt.find((one) => one.name === "notes");
  return html`<div class="tools head"><h1 class="grow">Notebook</h1>
      ${mayWrite("memory_optimize") && html`<button
        onClick=${() => show(() => html`<${Optimize} />`)}>Make room…</button>`}</div>
    <p class="muted">${cost ? `${num(cost.tokens)} of ${num(cost.limit)} tokens in every prompt` : "\u00a0"}</p>
    <${Call} name="notebook_show">${(data) => html`<div class="columns">${data.files.map((file) => html`<${File}
      key=${file.target} file=${file} opened=${params.open} />`)}</div>`}<//>`;
}
