import {
  act, atLeast, Button, bytes, call, confirm, download, html, line, Loaded, Meter, num, Panel, rights, Table, useCall,
  useEffect, useState,
} from "../forms.js";
import { weigh } from "./overview.js";

const Check = ({ one }) => html`<li><span class="tag ${one.ok ? "" : "bad"}">${one.ok ? "ok" : "failed"}</span>
  <span class="name">${one.name.replaceAll("_", " ")}</span><span class="grow muted">${line(one.detail, 200)}</span></li>`;

const repair = () => confirm({
  title: "Repair the memory", name: "doctor", args: { repair: true }, verb: "Repair", kind: "main",
  text: "This rebuilds the index, counters and links that a check finds damaged. Nothing readable is lost.",
});

let checking = null;
/** One run at a time, also when the page was left and is opened again: it reads the whole database. */
const check = () => (checking ??= call("doctor").finally(() => (checking = null)));

/** The checks begin when the rest of the page is there. */
function Checks({ isReady }) {
  const [found, set] = useState({});
  useEffect(() => {
    if (!isReady) return;
    const look = () => check().then((data) => set({ data }), (error) => set({ error }));
    look();
    window.addEventListener("mnemos:changed", look);
    return () => window.removeEventListener("mnemos:changed", look);
  }, [isReady]);
  return html`<${Panel} id="checks" title="Checks" more=${atLeast("write") && html`<${Button} class="" needs="doctor"
      onClick=${repair}>Repair…<//>`}>
    ${!found.data && !found.error && html`<p class="muted">Checking the whole database…</p>`}
    <${Loaded} of=${found}>${({ healthy, checks }) => html`
      <p><span class="tag ${healthy ? "accent" : "bad"}">
        ${healthy ? "everything is in order" : "something is wrong"}</span></p>
      <ul class="list">${checks.map((one) => html`<${Check} key=${one.name} one=${one} />`)}</ul>`}<//><//>`;
}

const UNITS = { max_databases: "databases of the workspace", databases_bytes: "size of the workspace" };

const Disk = ({ found }) => html`<${Panel} id="disk" title="Disk and index" more=${html`<${Button} class=""
    needs="optimize" onClick=${() => act("optimize", {})}>Optimize<//>`}>
  <${Loaded} of=${found}>${(data) => html`
    <p class="muted"><code>${line(data.location, 200)}</code></p>
    <${Meter} label="indexed by meaning" used=${data.coverage ?? 0} limit=${1}
      text="${Math.floor(100 * (data.coverage ?? 0))}%" />
    ${data.usage.map((one) => html`<${Meter} key=${one.setting} label=${UNITS[one.setting] ?? one.name}
      used=${one.used} limit=${one.limit} show=${one.setting.endsWith("_bytes") ? bytes : num} />`)}
    <${Table} heads=${["part of the file", "#size"]} rows=${weigh(data).map(([name, size]) => [name, bytes(size)])}
      foot=${["in all", bytes(data.file_bytes)]} />`}<//><//>`;

export default function Health() {
  const stats = useCall("stats");
  const save = (name, media, file) => () => download(name, media, file);
  return html`<div class="tools"><h1 class="grow">Health</h1>
      <${Button} class="" needs="backup" onClick=${save("backup", "application/vnd.sqlite3", "mnemos-backup.db")}>
        Download a backup<//>
      <${Button} class="" needs="export" onClick=${save("export", "application/zstd", "memory.tar.zst")}>
        Export everything<//></div>
    <div class="columns spaced"><${Checks} isReady=${!!(stats.data || stats.error)} /><${Disk} found=${stats} /></div>
    <p class="muted">This tab has a token for the space ${rights.space} with the scope ${rights.scope}.
      Settings and where each comes from: <code>mnemos config</code>. Tokens for programs: <code>mnemos tokens list</code>.
      Both are commands only, so that no program can give itself rights.</p>`;
}
