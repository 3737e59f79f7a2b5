// Imported by all pages but the first, with the rest of what they use.
import { Failure, act, call, can, revise, send, show, to, toast, useCall } from "./core.js";
import { Empty, Loaded, Problem, Stored, num } from "./ui.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";

export * from "./core.js";
export * from "./ui.js";
export * from "./vendor/preact.js";

export function Dialog({ title, close = () => show(null), children, wide = false }) {
  const ref = useRef();
  useEffect(() => {
    const before = document.activeElement;
    ref.current.showModal();
    return () => before?.isConnected && before.focus();
  }, []);
  return html`<dialog ref=${ref} class=${wide ? "wide" : ""} aria-label=${title} onClose=${close}
    onClick=${(e) => e.target === ref.current && close()}>
    <div class="inside"><header><h2>${title}</h2><button class="quiet" aria-label="close"
      onClick=${close}>✕</button></header>${children}</div>
  </dialog>`;
}

/** The answer of an operation, drawn by the function in it. */
export const Call = ({ name, args, text, children }) => html`<${Loaded} of=${useCall(name, args, { text })}>${children}<//>`;

/** A button that is drawn only if the token allows what it `needs`; `hint` is the key that presses it. */
export const Button = ({ needs, hint, class: kind = "plain", children, ...rest }) => (!needs || can(needs)) && html`<button
  type="button" class=${kind} data-key=${hint} ...${rest}>${children}</button>`;

/** @param choices [key, label] each; the labels are the keys where there are only keys. */
export const Select = ({ choices, pick, ...rest }) => html`<select ...${rest} onChange=${(e) => pick(e.target.value)}>
  ${choices.map((one) => [one].flat()).map(([key, label = key]) => html`<option key=${key} value=${key}>${label}</option>`)}
</select>`;

export const Check = ({ label, isOn, pick }) => html`<label><input type="checkbox" checked=${!!isOn}
  onChange=${(e) => pick(e.target.checked)} />${label}</label>`;

export const Search = ({ label, pick, ...rest }) => html`<input type="search" aria-label=${label} placeholder=${label}
  ...${rest} onInput=${(e) => pick(e.target.value)} />`;

/** The head of an item: the way back to its page, its title, and what can be done with it. */
export const Head = ({ page, name, title, children }) => html`<a class="back" data-key="back" href=${to(page)}>‹ ${name}</a>
  <div class="tools head"><h1 class="grow">${title}</h1><span class="does">${children}</span></div>`;

const Cancel = () => html`<button type="button" onClick=${() => show(null)}>Cancel</button>`;

/** Describe what a call would delete and what it asks; empty if it may simply be made. */
export async function findStake(name, args) {
  const { at_stake, questions } = await call(name, args, { preview: true });
  const asked = questions.map((one) => one.text.replace(/\s*Continue\?$/, ""));
  return [at_stake && `This deletes ${at_stake}.`, ...asked].filter(Boolean).join("\n");
}

function Confirm({ title, text, name, args, word = "", note, verb = "Delete", kind = "danger", done = () => act(name, args) }) {
  const [stake, set] = useState(text ? { text } : null);
  const [typed, type] = useState("");
  useEffect(() => {
    if (!text) findStake(name, args).then((found) => set({ text: found }), (error) => set({ error }));
  }, []);
  const submit = (event) => {
    event.preventDefault();
    if (!word) show(null);
    done();
  };
  const isReady = !!stake && !stake.error && typed === word;
  const go = useRef();
  // At once: an early Enter must not press another button.
  useLayoutEffect(() => {
    if (isReady && !word) go.current.focus();
  }, [isReady]);
  const shown = stake ? stake.text || "Nothing is deleted." : "…";
  return html`<${Dialog} title=${title}><form onSubmit=${submit}>
    ${stake?.error
      ? html`<${Problem} error=${stake.error} />`
      : html`<div class="stake"><${Stored} text=${shown} /></div>`}
    ${note && html`<p class="muted">${note}</p>`}
    ${word && html`<label class="word"><span>Type <b>${word}</b> to confirm</span>
      <input autocomplete="off" autofocus value=${typed} onInput=${(e) => type(e.target.value)} /></label>`}
    <footer><${Cancel} /><button ref=${go} class=${kind} disabled=${!isReady}>${verb}</button></footer>
  </form></${Dialog}>`;
}

/**
 * Ask before a change: shows `text`, or what the call `name` would delete. `done` makes the change, else the call
 * does. With a `word` that has to be typed, `done` closes the dialog.
 */
export const confirm = (about) => show(() => html`<${Confirm} ...${about} />`);

/** Erase what references name, after a question; then name the files that may still contain it. */
export function forget(refs, then) {
  const args = refs.length === 1 ? { ref: refs[0] } : { refs };
  const erase = async () => {
    const found = await act("forget", args);
    const isTraced = found && found.copies.length + found.tables.length + found.unsearched.length > 0;
    show(isTraced ? () => html`<${Dialog} key="traces" title="Erased, but copies may remain">
      <div class="stake"><${Stored} text=${found.text} /></div>
      <footer><button class="main" autofocus onClick=${() => show(null)}>Close</button></footer></${Dialog}>` : null);
    if (found) then?.();
  };
  confirm({
    title: `Forget ${refs.length === 1 ? refs[0].replace(":", " ") : `${refs.length} items`}`,
    name: "forget", args, word: "forget", verb: "Forget", done: erase,
    note: `It is erased from the database, its index and its vectors, and can't be restored.
      Backups made before still contain it: they are named afterwards.`,
  });
}

function Edit({ title, note, fields, values = {}, save }) {
  const [given, set] = useState({ ...values });
  const isLacking = fields.some(({ name, isOptional }) => !isOptional && !given[name]?.trim());
  const submit = async (event) => {
    event.preventDefault();
    if (await save(given)) show(null);
  };
  // The first field that lacks a value, or the text to change.
  const first = fields.find(({ name, isOptional }) => !isOptional && !values[name]) ?? fields.at(-1);
  return html`<${Dialog} title=${title}><form class="form" onSubmit=${submit}>
    ${note && html`<p class="muted">${note}</p>`}
    ${fields.map((field) => {
      const { name, choices, rows, isFixed, hint, pattern } = field;
      const pick = (value) => set({ ...given, [name]: value });
      const onInput = (e) => pick(e.target.value);
      const about = { value: given[name] ?? "", autofocus: field === first, required: !field.isOptional, placeholder: hint };
      return html`<label key=${name}>${name} ${choices
        ? html`<${Select} ...${about} choices=${choices} pick=${pick} />`
        : rows ? html`<textarea rows=${rows} ...${about} onInput=${onInput}></textarea>`
        : html`<input readonly=${isFixed} pattern=${pattern} ...${about} onInput=${onInput} />`}</label>`;
    })}
    <footer><${Cancel} /><button class="main"
      disabled=${isLacking || fields.every(({ name }) => given[name] === values[name])}>Save</button></footer>
  </form></${Dialog}>`;
}

/** Ask for `fields` ({name, choices, rows, isFixed, isOptional, hint}); `save` gets the values and is true if done. */
export const edit = (about) => show(() => html`<${Edit} ...${about} />`);

export function Field({ value = "", commit, ...rest }) {
  const [text, type] = useState(value);
  useEffect(() => type(value), [value]);
  return html`<input ...${rest} value=${text} onInput=${(e) => type(e.target.value)}
    onChange=${(e) => commit(e.target.value)} />`;
}

/** Fields that filter what a page shows; each is a parameter of its address. */
export const Filter = ({ fields, params, set, children }) => html`<form class="tools" role="search" aria-label="filter"
  onSubmit=${(e) => e.preventDefault()}>
  ${Object.entries(fields).map(([name, label]) => html`<${Field} key=${name} class=${name === "q" ? "long" : "short"}
    type=${name === "q" ? "search" : "text"} aria-label=${label} placeholder=${label} value=${params[name]}
    commit=${(value) => set({ [name]: value })} />`)}${children}</form>`;

/** Buttons to other parts of a list; nothing if there is only one. */
export const Pager = ({ back, on, names = ["Previous", "Next"], children }) => (back || on) && html`<div
  class="tools pager"><button data-key="[" disabled=${!back} onClick=${back}>${names[0]}</button>
  <span class="muted number">${children}</span>
  <button data-key="]" disabled=${!on} onClick=${on}>${names[1]}</button></div>`;

/** The arguments of a call that were filled in. */
export const given = (args) => Object.fromEntries(Object.entries(args).filter(([, value]) => value));

/** The part of a list that is shown, such as 1 to 50 of 67. */
export const range = (offset, count, total) => `${num(offset + 1)} to ${num(offset + count)} of ${num(total)}`;

const MARKS = { "#": "number", "~": "wide-only" };
/** A table of text; columns whose head begins with # have numbers, those with ~ are left out of a small window. */
export const Table = ({ heads, rows, foot }) => {
  const line = (cells, tag) => cells.map((one, at) => html`<${tag} key=${at} class=${MARKS[heads[at][0]]}>${one}</${tag}>`);
  return html`<table><thead><tr>${line(heads.map((one) => one.replace(/^[#~]/, "")), "th")}</tr></thead>
    <tbody>${rows.map((cells, at) => html`<tr key=${at}>${line(cells, "td")}</tr>`)}</tbody>
    ${foot && html`<tfoot><tr>${line(foot, "th")}</tr></tfoot>`}</table>`;
};

export function Copy({ text }) {
  const [isDone, set] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => {});
    set(true);
    setTimeout(() => set(false), 1500);
  };
  return html`<button class="quiet" onClick=${copy}>${isDone ? "copied" : "copy"}</button>`;
}

export function usePause(value, ms = 250) {
  const [settled, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** The address of what a hit or an event is about. */
export function placeOf({ kind, ref, session_id = "", text = "" }) {
  const id = String(ref ?? "").replace(`${kind}:`, "");
  if (kind === "message") return to("sessions", `${session_id}@${id}`);
  if (kind === "session") return to("sessions", session_id || id);
  if (kind === "fact") return to("facts", "", { open: id });
  if (kind === "entry") return to("people", "", { open: id });
  if (kind === "note") return to("notebook", "", { open: text.slice(0, 80) });
  if (kind === "table") return to("workspace", id.replace(".", "/"));
  if (kind === "template") return to("templates", id);
  return kind === "recall" ? to("recall", "", { q: text }) : to("log");
}

/** The address names something only by its id: `find` makes the rest of the address from what `show` says of it. */
export function Lost({ id, find }) {
  const found = useCall("show", { id, around: 0 });
  const where = found.data && find(found.data);
  useEffect(() => {
    if (where) revise(...where);
  }, [found.data]);
  return html`<${Loaded} of=${found}>${() => !where && html`<${Empty} title="Not found">There is no ${id}.<//>`}<//>`;
}

/** Open a stream of server-sent events; yields {id, event, data}. `body` makes it a call of an operation. */
export async function* listen(path, { body, signal, last } = {}) {
  const answer = await send(path, {
    signal,
    headers: { accept: "text/event-stream", ...(last && { "last-event-id": last }) },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (text + value).split(/\r?\n\r?\n/);
    text = blocks.pop();
    for (const block of blocks) {
      const one = { event: "message", data: "" };
      for (const line of block.split(/\r?\n/)) {
        const [, key, rest] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (key) one[key] = key === "data" ? one.data + rest : rest;
      }
      if (one.data) yield { ...one, data: JSON.parse(one.data) };
    }
  }
}

let described;
export const describe = () => (described ??= send("/openapi.json").then((answer) => answer.json()));

function keep(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export const save = (name, text) => keep(name, new Blob([text]));

export async function download(operation, accept, name) {
  try {
    keep(name, await (await send(`/v1/${operation}`, { method: "POST", body: "{}", headers: { accept } })).blob());
    toast(`Saved ${name}.`);
  } catch (error) {
    toast(error.message, { isError: true });
  }
}

export async function upload(operation, file, type) {
  const answer = await send(`/v1/${operation}`, { method: "POST", body: file, headers: { "content-type": type } });
  const data = await answer.json();
  if (data.disabled) throw new Failure(409, "disabled", data.text);
  return data;
}
