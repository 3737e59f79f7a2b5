import { act, can, changed, show, useCall } from "../core.js";
import { Dialog, listen, upload } from "../forms.js";
import { Line, Loaded, Panel, Problem, Stored, bytes, plural } from "../ui.js";
import { html, useState } from "../vendor/preact.js";

const operation = (client) => `connect_${client.replaceAll("-", "_")}`;

function Change({ client, name, isUndo }) {
  const args = isUndo ? { undo: true } : {};
  const found = useCall(operation(client), { ...args, diff: true });
  const verb = isUndo ? "Disconnect" : "Connect";
  const make = () => {
    show(null);
    act(operation(client), args);
  };
  return html`<${Dialog} title="${verb} ${name}" wide><${Loaded} of=${found}>${(data) => html`
    <ul>${data.summary.map((one) => html`<li><${Line} text=${one} /></li>`)}</ul>
    ${data.remarks.map((one) => html`<p class="muted"><${Line} text=${one} most=${300} /></p>`)}
    ${data.changes.map((one) => html`<h3><code><${Line} text=${one.file} most=${120} /></code></h3><pre
      tabindex="0"><${Stored} text=${one.diff} isCode /></pre>`)}
    <footer><button onClick=${() => show(null)}>Cancel</button><button class="main" autofocus
      onClick=${make}>${verb}</button></footer>`}<//></${Dialog}>`;
}

function Program({ client, name, connected, found, problem }) {
  const open = () => show(() => html`<${Change} client=${client} name=${name} isUndo=${connected} />`);
  return html`<li data-row tabindex="-1"><span class="grow"><b>${name}</b> <span
      class="tag ${connected ? "accent" : ""}">${connected ? "connected" : found ? "found" : "not found"}</span>
      <span class="muted"> <${Line} text=${problem} most=${160} /></span></span>
    ${can(operation(client)) && html`<button data-key="open"
      onClick=${open}>${connected ? "disconnect" : "connect"}…</button>`}</li>`;
}

function Programs() {
  const found = useCall("connect_found");
  return html`<${Panel} id="programs" title="Programs"><${Loaded} of=${found}>${({ clients }) => html`<ul
    class="list">${clients.map((one) => html`<${Program} key=${one.client} ...${one} />`)}</ul>`}<//><//>`;
}

function Outcome({ progress, error, done }) {
  const percent = Math.round(100 * (progress?.share ?? 0));
  return html`<div role="status">${progress && html`<span class="bar" role="progressbar" aria-label="import"
    aria-valuenow=${percent}><i style=${{ width: `${percent}%` }}></i></span><p class="muted"><${Line}
    text=${progress.label} most=${120} /></p>`}
    ${error && html`<${Problem} error=${error} />`}${done && html`<${Stored} text=${done} />`}</div>`;
}

async function watch(name, body, report) {
  for await (const one of listen(`/v1/${name}`, { body })) {
    if (one.event === "progress") report({ progress: one.data });
    else if (one.event === "result") return report({ done: one.data.text }), changed();
    else if (one.event === "error") return report({ error: one.data.error ?? one.data });
  }
}

function Imports() {
  const found = useCall("import_found", { dry_run: true });
  const [state, set] = useState({});
  const begin = (kind) => watch("import_found", { kinds: [kind] }, set).catch((error) => set({ error }));
  return html`<${Panel} id="imports" title="Conversations on this machine"><${Loaded} of=${found}>${({ there }) =>
      there.length === 0 ? html`<p class="muted">None were found in the usual places.</p>` : html`<ul
        class="list">${there.map((one) => html`<li key=${one.kind} data-row tabindex="-1"><span class="grow"><b>
        ${one.title}</b> <span class="muted">${plural(one.files, "file")}, ${bytes(one.bytes)}, <${Line}
        text=${one.path} most=${100} /></span></span><button data-key="open" disabled=${!!state.progress}
        onClick=${() => begin(one.kind)}>import</button></li>`)}</ul>`}<//>
    <${Outcome} ...${state} /><//>`;
}

const TYPES = { zip: "application/zip", jsonl: "application/x-ndjson", zst: "application/zstd", gz: "application/gzip" };

function Drop() {
  const [kind, pick] = useState("import_chatgpt");
  const [state, set] = useState({});
  const send = async (file) => {
    if (!file) return;
    set({ progress: { share: 0, label: `sending ${file.name}` } });
    const type = TYPES[file.name.split(".").at(-1)] ?? "application/octet-stream";
    // The server stores it under another name in the meantime.
    const report = ({ text }) => ({ done: text.replace(/\S*[\\/]upload\.[\w.]+/g, file.name) });
    set(await upload(kind, file, type).then((data) => (changed(), report(data)), (error) => ({ error })));
  };
  return html`<div onDragOver=${(e) => e.preventDefault()}
    onDrop=${(e) => (e.preventDefault(), send(e.dataTransfer.files[0]))}><${Panel} id="drop" title="Import an export">
    <p class="muted">Drop a file here, or choose one: a ChatGPT or Claude.ai export (zip), JSON lines, or an archive of Mnemos.</p>
    <div class="tools"><select aria-label="format" value=${kind} onChange=${(e) => pick(e.target.value)}><option
      value="import_chatgpt">ChatGPT</option><option value="import_claude">Claude.ai</option><option
      value="import_jsonl">JSON lines</option><option value="import_archive">archive of Mnemos</option></select>
      <input type="file" aria-label="file" onChange=${(e) => send(e.target.files[0])} /></div>
    <${Outcome} ...${state} /><//></div>`;
}

export default function Connections() {
  return html`<h1>Connections</h1><div class="columns spaced">
    ${can("import_found") && html`<${Imports} />`}${can("import_chatgpt") && html`<${Drop} />`}</div><${Programs} />`;
}
