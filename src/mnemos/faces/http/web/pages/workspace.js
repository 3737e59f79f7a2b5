import { Bars } from "../chart.js";
import {
  Button, bytes, Call, call, changed, Check, confirm, dateOf, Empty, given, html, line, Loaded, mayWrite, num, Pager, plural,
  Problem, revise, save, Search, Select, Tabs, time, to, useCall, useRef, useState,
} from "../forms.js";

const PAGE = 100;
const quote = (name) => `"${name.replaceAll('"', '""')}"`;

function Cell({ value }) {
  if (value == null) return html`<td class="muted">null</td>`;
  const isNumber = typeof value === "number";
  return html`<td class=${isNumber ? "number" : ""}>${isNumber ? String(value) : line(typeof value === "string" ? value : JSON.stringify(value), 200)}</td>`;
}

export function Grid({ columns, rows, sort, pick }) {
  const isNumber = columns.map((_, at) => rows.length > 0 && rows.every((row) => row[at] == null || typeof row[at] === "number"));
  return html`<div class="scroll grid" tabindex="0" role="region" aria-label="rows"><table><thead><tr>
    ${columns.map((name, at) => html`<th key=${at} class=${isNumber[at] ? "number" : ""}>${pick ? html`<button
    class="plain" onClick=${() => pick(name)}>${line(name, 40)}
    ${sort?.name === name ? (sort.down ? " ↓" : " ↑") : ""}</button>` : line(name, 40)}</th>`)}</tr></thead>
    <tbody>${rows.map((row, at) => html`<tr key=${at}>${row.map((value, column) => html`<${Cell} key=${column}
      value=${value} />`)}</tr>`)}</tbody></table></div>`;
}

/** A column's range, or some of its values. */
function sampleOf(table, column) {
  if (column.range) return `${column.range[0]} to ${column.range[1]}`;
  const at = table.sample_columns?.indexOf(column.name) ?? -1;
  const values = at < 0 ? [] : table.sample.map((row) => row[at]).filter((one) => one != null);
  return [...new Set(values)].slice(0, 3).join(", ");
}

function Table({ database, table }) {
  const [at, move] = useState(0);
  const [sort, order] = useState(null);
  const [words, type] = useState("");
  const where = words ? ` WHERE ${table.columns.map(({ name }) => `instr(lower(${quote(name)}), lower(:words))`).join(" OR ")}` : "";
  const query = `SELECT * FROM ${quote(table.name)}${where}${sort ? ` ORDER BY ${quote(sort.name)}${sort.down ? " DESC" : ""}` : ""}`;
  const args = { database, query, read_only: true, max_rows: PAGE, offset: at, ...given({ params: words && { words } }) };
  return html`<div class="tools"><h2>${line(table.name)}</h2><span class="muted">
    ${plural(table.rows, "row")}</span>
      <${Search} class="end" label="filter rows" value=${words} pick=${(text) => (type(text), move(0))} /></div>
    <ul class="columns-of muted">${table.columns.map((column) => html`<li key=${column.name}><code>${line(column.name, 40)}</code>
      ${` ${column.type}${column.primary_key ? " key" : ""}`} ${line(sampleOf(table, column))}</li>`)}</ul>
    <${Call} name="sqlite_query" args=${args}>${(data) => html`<${Grid} columns=${data.columns} rows=${data.rows} sort=${sort}
      pick=${(name) => (order({ name, down: sort?.name === name && !sort.down }), move(0))} />
      <${Pager} back=${at > 0 && (() => move(at - PAGE))}
        on=${data.next_offset != null && (() => move(at + PAGE))}>
        ${data.rows.length ? `${num(at + 1)} to ${num(at + data.rows.length)}` : "no rows"}<//>`}<//>`;
}

const toCsv = ({ columns, rows }) => [columns, ...rows].map((row) => row.map((value) => (/[",\n]/.test(String(value ?? "")) ? quote(String(value)) : String(value ?? ""))).join(",")).join("\n");

const toJson = ({ columns, rows }) => JSON.stringify(rows.map((row) => Object.fromEntries(row.map((one, at) => [columns[at], one]))), null, 1);

function Result({ data }) {
  const [isChart, draw] = useState(false);
  const last = data.columns.findLastIndex((_, at) => data.rows.length && data.rows.every((row) => typeof row[at] === "number"));
  return html`<div class="tools"><span class="muted" role="status">
    ${plural(data.row_count, "row")}${data.truncated ? " and more" : ""}, ${plural(data.changes, "change")}, ${data.elapsed_ms.toFixed(1)} ms</span>
      ${last >= 0 && html`<button class="quiet" aria-pressed=${isChart} onClick=${() => draw(!isChart)}>chart</button>`}
      <button class="quiet" onClick=${() => save("rows.csv", toCsv(data))}>save CSV</button>
      <button class="quiet" onClick=${() => save("rows.json", toJson(data))}>save JSON</button></div>
    ${data.warnings.map((one) => html`<p class="notice">${one}</p>`)}
    ${isChart && html`<${Bars} label=${data.columns[last]} names=${[data.columns[last]]}
      rows=${data.rows.slice(0, 1000).map((row) => ({ label: String(row[0]), parts: { [data.columns[last]]: Math.max(0, row[last]) } }))} />`}
    ${data.plan?.length > 0 && html`<pre tabindex="0" aria-label="plan">${data.plan.join("\n")}</pre>`}
    ${data.columns.length > 0 && html`<${Grid} columns=${data.columns} rows=${data.rows} />`}`;
}

/** Names of the schema that begin with the word before the cursor. */
function Completion({ field, text, tables = [], put }) {
  const at = field.current?.selectionEnd ?? text.length;
  const [begun] = /[\p{L}\p{N}_]*$/u.exec(text.slice(0, at));
  const names = new Set(tables.flatMap((table) => [table.name, ...table.columns.map((column) => column.name)]));
  const fitting = [...names].filter((name) => begun && name !== begun && name.toLowerCase().startsWith(begun.toLowerCase()));
  const pick = (name) => put(text.slice(0, at - begun.length) + (/^[a-z_]\w*$/i.test(name) ? name : quote(name)) + text.slice(at));
  return html`<div class="completion" role="group" aria-label="names">
    ${fitting.slice(0, 8).map((name) => html`<button key=${name} type="button" class="quiet"
    onClick=${() => pick(name)}>${line(name, 40)}</button>`)}</div>`;
}

const LOSES = /\b(alter|delete|drop|replace|update)\b/i;
const explain = (error) =>
  error.code === "read_only" ? { message: `${error.message} Tick “allow changes” to run it.` } : error;

function Console({ database, tables }) {
  const field = useRef();
  const [text, type] = useState("");
  const [mayChange, allow] = useState(false);
  const [found, set] = useState({});
  const [past, keep] = useState(JSON.parse(sessionStorage.getItem("queries") ?? "[]"));
  const submit = (event) => {
    event?.preventDefault();
    if (!text.trim()) return;
    if (mayChange && LOSES.test(text))
      confirm({
        title: `Change ${database}`, text, verb: "Run", done: run,
        note: "This can delete or overwrite rows. If a snapshot was made, it restores the tables as they were.",
      });
    else run();
  };
  const run = async () => {
    const kept = [text, ...past.filter((one) => one !== text)].slice(0, 50);
    keep(kept);
    sessionStorage.setItem("queries", JSON.stringify(kept));
    const args = { database, query: text, max_rows: 1000, read_only: !mayChange };
    const plan = !mayChange && !/;\s*\S/.test(text);
    set(await call("sqlite_query", { ...args, plan }).then((data) => ({ data }), (error) => ({ error: explain(error) })));
    if (mayChange) changed();
  };
  return html`<form class="form" onSubmit=${submit}><label>SQL on ${database} <textarea ref=${field} rows="4"
    spellcheck="false" placeholder="SELECT * FROM …" value=${text} onInput=${(e) => type(e.target.value)}
    onKeyDown=${(e) => e.key === "Enter" && (e.ctrlKey || e.metaKey) && submit(e)}></textarea></label>
      <div class="tools"><button class="main" disabled=${!text.trim()}>Run <kbd>Ctrl ⏎</kbd></button>
        ${mayWrite("sqlite_query") && html`<${Check} label="allow changes" isOn=${mayChange} pick=${allow} />`}
        ${past.length > 0 && html`<${Select} class="grow" aria-label="earlier queries" value="" pick=${type}
          choices=${[["", "earlier queries"], ...past.map((one) => [one, one.slice(0, 80)])]} />`}</div>
      <${Completion} field=${field} text=${text} tables=${tables}
        put=${(whole) => (type(whole), field.current.focus())} /></form>
    ${found.error && html`<${Problem} error=${found.error} />`}${found.data && html`<${Result} data=${found.data} />`}`;
}

function Snapshots({ database }) {
  const restore = ({ name, made_at }) => confirm({
    title: `Restore ${database}`, verb: "Restore", name: "sqlite_restore", args: { database, snapshot: name },
    text: `This replaces all tables of ${database} with those of ${dateOf(made_at)}. The current ones are saved as a
snapshot first, so that you can go back to them.`,
  });
  return html`<${Call} name="sqlite_snapshots" args=${{ database }}>${({ snapshots }) =>
    snapshots.length === 0
      ? html`<p class="muted">No snapshots yet. One is made before a change that deletes many rows.</p>`
      : html`<ul class="list">${snapshots.map((one) => html`<li key=${one.name} data-row tabindex="-1">
          <span class="grow"><code>${one.short_name || one.name}</code>
            <span class="muted"> ${time(one.made_at)} · ${bytes(one.size_bytes)}</span></span>
          <${Button} class="" needs="sqlite_restore" hint="open" onClick=${() => restore(one)}>restore…<//>
        </li>`)}</ul>`}<//>`;
}

export default function Workspace({ rest, params }) {
  const databases = useCall("sqlite_databases");
  const [database, name] = rest ? rest.split("/") : [databases.data?.databases[0]?.name];
  const schema = useCall("sqlite_schema", { database: database ?? "default" }, { skip: !database });
  const table = schema.data?.tables.find((one) => one.name === name);
  const view = params.view ?? "console";
  return html`<h1>Workspace</h1><${Loaded} of=${databases}>${(data) =>
    data.databases.length === 0
      ? html`<${Empty} title="No tables yet" commands=${'mnemos sql "CREATE TABLE books (title, year)"'}>Agents keep rows here
          with SQL. You can, too:<//>`
      : html`<div class="workspace"><nav aria-label="tables">${data.databases.map((one) => html`<section
        key=${one.name}><h2><a href=${to("workspace", one.name)}>${line(one.name, 30)}</a> <span class="muted small">${bytes(one.size_bytes)}</span></h2>
          ${one.name === database && html`<ul>${schema.data?.tables.map((each) => html`<li key=${each.name}>
            <a data-row href=${to("workspace", `${one.name}/${each.name}`)}
            aria-current=${each.name === name ? "page" : null}>${line(each.name, 40)}</a><span
            class="number muted">${num(each.rows)}</span></li>`)}</ul>`}</section>`)}</nav>
        <div class="grow">${data.databases.every((one) => one.name !== database) ? html`<${Problem}
          error=${{ message: `There is no database ${database}.` }} />` : table ? html`<${Table} key=${database + name} database=${database}
          table=${table} />` : html`<div class="tools"><${Tabs} label="view"
          choices=${[["console", "Console"], ["snapshots", "Snapshots"]]} value=${view}
          pick=${(key) => revise("workspace", rest, { view: key })} /></div>
          ${view === "console" ? html`<${Console} database=${database}
            tables=${schema.data?.tables} />` : html`<${Snapshots} database=${database} />`}`}</div></div>`}
            <//>`;
}
