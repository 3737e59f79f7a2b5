import { act, can, revise, to, useCall } from "../core.js";
import { Confirm } from "../confirm.js";
import { Dialog, Empty, Line, Loaded, Stored, Time, num, plural } from "../ui.js";
import { html, useEffect, useState } from "../vendor/preact.js";

function Edit({ user, entry, close }) {
  const [who, name] = useState(user ?? "");
  const [key, setKey] = useState(entry?.key ?? "");
  const [value, set] = useState(entry?.value ?? "");
  const submit = async (event) => {
    event.preventDefault();
    if (await act("entries_set", { user: who, key, value })) close();
  };
  return html`<${Dialog} title=${entry ? `Change ${entry.key}` : "New entry"} close=${close}><form class="form"
    onSubmit=${submit}>
    <label>user <input required readonly=${!!user} value=${who} onInput=${(e) => name(e.target.value)} /></label>
    <label>key <input required readonly=${!!entry} value=${key} onInput=${(e) => setKey(e.target.value)} /></label>
    <label>value <textarea required rows="4" autofocus=${!!entry} value=${value}
      onInput=${(e) => set(e.target.value)}></textarea></label>
    <footer><button type="button" onClick=${close}>Cancel</button><button class="main"
      disabled=${!who || !key || !value}>Save</button></footer></form></${Dialog}>`;
}

function Person({ user, opened }) {
  const found = useCall("entries_list", { user, values: true, limit: 500 });
  const [edited, edit] = useState(null);
  const [doomed, doom] = useState(null);
  return html`<a class="back" data-key="back" href=${to("people")}>‹ People</a><div class="tools"><h1><${Line}
    text=${user} most=${80} /></h1>${can("entries_set") && html`<button class="main end" data-key="n"
    onClick=${() => edit({})}>New entry <kbd>n</kbd></button>`}</div>
    <${Loaded} of=${found}>${({ entries }) => html`<p class="muted">
      ${plural(entries.length, "entry", "entries")}</p><ul class="entries">${entries.map((one) => html`<li
      key=${one.key} data-row tabindex="-1" class=${one.key === opened ? "here" : ""}><b><${Line}
      text=${one.key} most=${60} /></b><${Stored} text=${one.value} most=${1000} /><span class="muted number">
      <${Time} at=${one.updated_at} /></span>
      <span class="does">${can("entries_set") && html`<button class="plain" data-key="e"
        onClick=${() => edit(one)}>change</button>`}${can("entries_delete") && html`<button class="plain"
        data-key="#" onClick=${() => doom(one)}>delete</button>`}</span></li>`)}</ul>`}<//>
    ${edited && html`<${Edit} user=${user} entry=${edited.key ? edited : null} close=${() => edit(null)} />`}
    ${doomed && html`<${Confirm} title="Delete ${doomed.key}" name="entries_delete"
      args=${{ user, key: doomed.key }} close=${() => doom(null)}
      done=${() => act("entries_delete", { user, key: doomed.key })} />`}`;
}

/** The address names an entry by its id: find its user and key. */
function Lost({ id }) {
  const found = useCall("show", { id: `entry:${id}` });
  const user = /^entry of (.*) in /.exec(found.data?.explained?.where)?.[1];
  const key = found.data?.explained?.content.split(": ")[0];
  useEffect(() => {
    if (user) revise("people", user, { key });
  }, [user]);
  return html`<${Loaded} of=${found}>${() => !user && html`<${Empty}
    title="Not found">There is no entry ${id}.<//>`}<//>`;
}

export default function People({ rest, params }) {
  const found = useCall("entries_users", {}, { skip: !!rest || !can("entries_users") });
  const about = useCall("entries_info", {}, { skip: !!rest });
  const [isNew, add] = useState(false);
  if (rest) return html`<${Person} key=${rest} user=${rest} opened=${params.key} />`;
  if (params.open) return html`<${Lost} id=${params.open} />`;
  return html`<div class="tools"><h1>People</h1>${about.data?.available && html`<span class="muted">
    ${about.data.backend}</span>`}${can("entries_set") && html`<button class="main end" data-key="n"
    onClick=${() => add(true)}>New entry <kbd>n</kbd></button>`}</div>
    <${Loaded} of=${found}>${({ users }) =>
      users.length === 0
        ? html`<${Empty}
          title="Nothing about people yet">Programs keep keys and values about users here, if a backend is set: <code>mnemos config set backend local</code>, then <code>mnemos entries set city Lisbon --user ana</code><//>`
        : html`<table><thead><tr><th>user</th><th class="number">entries</th></tr></thead><tbody>
          ${users.map((one) => html`<tr key=${one.user}><td><a data-row href=${to("people", one.user)}><${Line}
          text=${one.user} most=${80} /></a></td><td class="number">${num(one.entries)}</td></tr>`)}
          </tbody></table>`}<//>
    ${isNew && html`<${Edit} close=${() => add(false)} />`}`;
}
