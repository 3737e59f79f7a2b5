import { act, atLeast, can, useCall } from "../core.js";
import { download } from "../files.js";
import { Line, Loaded, Meter, bytes, num } from "../ui.js";
import { html } from "../vendor/preact.js";

function Checks() {
  const found = useCall("doctor");
  return html`<section class="panel" aria-labelledby="checks"><header><h2 id="checks">Checks</h2>${atLeast("write") && can("doctor") && html`<button onClick=${() => act("doctor", { repair: true }, { canUndo: false })}>Repair</button>`}</header><${Loaded} of=${found}>${(data) => html`
    <p><span class="tag ${data.healthy ? "accent" : "bad"}">${data.healthy ? "everything is in order" : "something is wrong"}</span></p>
    <ul class="list">${data.checks.map((one) => html`<li key=${one.name}><span class="tag ${one.ok ? "" : "bad"}">${one.ok ? "ok" : "failed"}</span><span class="name">${one.name.replaceAll("_", " ")}</span><span class="grow muted"><${Line} text=${one.detail} most=${200} /></span></li>`)}</ul>
    ${data.usage.map((one) => html`<${Meter} key=${one.setting} label=${one.name} used=${one.used} limit=${one.limit} show=${one.limit > 1e6 ? bytes : num} />`)}`}<//></section>`;
}

function Disk() {
  const found = useCall("stats");
  return html`<section class="panel" aria-labelledby="disk"><header><h2 id="disk">Disk and index</h2>${can("optimize") && html`<button onClick=${() => act("optimize", {}, { canUndo: false })}>Optimize</button>`}</header><${Loaded} of=${found}>${(data) => html`
    <p class="muted"><code><${Line} text=${data.location} most=${200} /></code></p>
    <${Meter} label="indexed by meaning" used=${Math.round(100 * (data.coverage ?? 0))} limit=${100} unit="%" />
    <table><thead><tr><th>table</th><th class="number">size</th></tr></thead><tbody>${Object.entries(data.tables).sort(([, a], [, b]) => b - a).slice(0, 12).map(([name, size]) => html`<tr key=${name}><td><code>${name}</code></td><td class="number">${bytes(size)}</td></tr>`)}
      <tr><th>file</th><td class="number"><b>${bytes(data.file_bytes)}</b></td></tr></tbody></table>`}<//></section>`;
}

export default function Health() {
  return html`<div class="tools"><h1>Health</h1>${can("backup") && html`<button class="end" onClick=${() => download("backup", {}, "application/vnd.sqlite3", "mnemos-backup.db")}>Download a backup</button>`}${can("export") && html`<button onClick=${() => download("export", {}, "application/zstd", "memory.tar.zst")}>Export everything</button>`}</div>
    <div class="columns"><${Checks} /><${Disk} /></div>
    <p class="muted">Settings and where each comes from: <code>mnemos config</code>. Tokens for programs: <code>mnemos tokens list</code>. Both are commands only, so that no program can give itself rights.</p>`;
}
