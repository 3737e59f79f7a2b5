import {
  act, Button, bytes, Call, can, changed, Dialog, html, line, listen, Panel, plural, Problem, Select, show, Stored,
  upload, useState,
} from "../forms.js";

const operation = (client) => `connect_${client.replaceAll("-", "_")}`;

function Change({ client, name, isUndo }) {
  const args = isUndo ? { undo: true } : {};
  const verb = isUndo ? "Disconnect" : "Connect";
  const make = () => {
    show(null);
    act(operation(client), args);
  };
  return html`<${Dialog} title="${verb} ${name}" wide><${Call} name=${operation(client)} args=${{ ...args, diff: true }}>${(data) => html`
    <ul>${data.summary.map((one) => html`<li>${line(one)}</li>`)}</ul>
    ${data.remarks.map((one) => html`<p class="muted">${line(one, 300)}</p>`)}
    ${data.changes.map((one) => html`<h3><code>${line(one.file)}</code></h3><pre
      tabindex="0"><${Stored} text=${one.diff} isCode /></pre>`)}
    <footer><button onClick=${() => show(null)}>Cancel</button><button class="main" autofocus
      onClick=${make}>${verb}</button></footer>`}<//></${Dialog}>`;
}

function Program({ client, name, connected, found, problem }) {
  const open = () => show(() => html`<${Change} client=${client} name=${name} isUndo=${connected} />`);
  return html`<li data-row tabindex="-1"><span class="grow"><b>${name}</b> <span
      class="tag ${connected ? "accent" : ""}">${connected ? "connected" : found ? "found" : "not found"}</span>
      <span class="muted"> ${line(problem, 160)}</span></span>
    <${Button} class="" needs=${operation(client)} hint="open"
      onClick=${open}>${connected ? "disconnect" : "connect"}…<//></li>`;
}

/** Programs that are on this machine come first. */
const isHere = (one) => !!(one.connected || one.found);

function Programs() {
  return html`<${Panel} id="programs" title="Programs"><${Call} name="connect_found">${({ clients }) => html`<ul
    class="list">${clients.sort((a, b) => isHere(b) - isHere(a)).map((one) => html`<${Program} key=${one.client} ...${one} />`)}</ul>`}<//><//>`;
}

function Outcome({ progress, error, done }) {
  const percent = Math.round(100 * (progress?.share ?? 0));
  return html`<div role="status">${progress && html`<span class="bar" role="progressbar" aria-label="import"
    aria-valuenow=${percent}><i style=${{ width: `${percent}%` }}></i></span><p class="muted">${line(progress.label)}</p>`}
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
  const [state, set] = useState({});
  const begin = (kind) => watch("import_found", { kinds: [kind] }, set).catch((error) => set({ error }));
  return html`<${Panel} id="imports" title="Conversations on this machine"><${Call} name="import_found" args=${{ dry_run: true }}>${({ there }) =>
      there.length === 0 ? html`<p class="muted">None were found in the usual places.</p>` : html`<ul
        class="list">${there.map((one) => html`<li key=${one.kind} data-row tabindex="-1"><span class="grow"><b>
        ${one.title}</b> <span class="muted">${plural(one.files, "file")}, ${bytes(one.bytes)}, ${line(one.path)}</span></span><button data-key="open" disabled=${!!state.progress}
        onClick=${() => begin(one.kind)}>import</button></li>`)}</ul>`}<//>
    <${Outcome} ...${state} /><//>`;
}

const TYPES = { zip: "application/zip", jsonl: "application/x-ndjson", zst: "application/zstd", gz: "application/gzip" };

const FORMATS = [["import_chatgpt", "ChatGPT"], ["import_claude", "Claude.ai"], ["import_jsonl", "JSON lines"], ["import_archive", "Mnemos archive"]];

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
    onDrop=${(e) => (e.preventDefault(), send(e.dataTransfer.files[0]))}><${Panel} id="drop" title="Import a file">
    <p class="muted">Drop a file here, or choose one: a ChatGPT or Claude.ai export (zip), JSON lines, or a Mnemos archive.</p>
    <div class="tools"><${Select} aria-label="format" choices=${FORMATS} value=${kind} pick=${pick} />
      <input type="file" aria-label="file" onChange=${(e) => send(e.target.files[0])} /></div>
    <${Outcome} ...${state} /><//></div>`;
}

export default function Connections() {
  return html`<h1>Connections</h1><div class="columns spaced">
    ${can("import_found") && html`<${Imports} />`}${can("import_chatgpt") && html`<${Drop} />`}</div><${Programs} />`;
}
