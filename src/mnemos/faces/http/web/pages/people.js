import { act, can, to, useCall } from "../core.js";
import { Lost, Table, confirm, edit } from "../forms.js";
import { Empty, Line, Loaded, Stored, Time, num, plural } from "../ui.js";
import { html } from "../vendor/preact.js";

const change = (values = {}) => edit({
  title: values.key ? `Change ${values.key}` : "New entry",
  values,
  fields: [
    { name: "user", isFixed: !!values.user },
    { name: "key", isFixed: !!values.key },
    { name: "value", rows: 4 },
  ],
  save: ({ user, key, value }) => act("entries_set", { user, key, value }),
});

const New = ({ user }) => can("entries_set") && html`<button class="main end" data-key="n"
  onClick=${() => change(user && { user })}>New entry <kbd>n</kbd></button>`;

function Entry({ user, one, isHere }) {
  const { key } = one;
  const remove = () => confirm({ title: `Delete ${key}`, name: "entries_delete", args: { user, key } });
  return html`<li data-row tabindex="-1" class=${isHere ? "here" : ""}><b><${Line} text=${key} most=${60} /></b>
    <${Stored} text=${one.value} most=${1000} /><span class="muted number"><${Time} at=${one.updated_at} /></span>
    <span class="does">
      ${can("entries_set") && html`<button class="plain" data-key="e" onClick=${() => change({ ...one, user })}>change
        </button>`}
      ${can("entries_delete") && html`<button class="plain" data-key="#" onClick=${remove}>delete</button>`}</span></li>`;
}

function Person({ user, opened }) {
  const found = useCall("entries_list", { user, values: true, limit: 500 });
  return html`<a class="back" data-key="back" href=${to("people")}>‹ People</a><div class="tools"><h1><${Line}
    text=${user} most=${80} /></h1><${New} user=${user} /></div>
    <${Loaded} of=${found}>${({ entries }) => html`<p class="muted">${plural(entries.length, "entry", "entries")}</p>
      <ul class="entries">${entries.map((one) => html`<${Entry} key=${one.key} user=${user} one=${one}
        isHere=${one.key === opened} />`)}</ul>`}<//>`;
}

function findEntry({ explained }) {
  const user = /^entry of (.*) in /.exec(explained?.where)?.[1];
  return user && ["people", user, { key: explained.content.split(": ")[0] }];
}

function List() {
  const found = useCall("entries_users");
  const isOff = /^null/.test(useCall("entries_info").data?.backend);
  return html`<div class="tools"><h1>People</h1>${!isOff && html`<${New} />`}</div>
    <${Loaded} of=${found}>${({ users }) =>
      users.length === 0
        ? html`<${Empty} title="Nothing about people yet" commands=${`${isOff ? "mnemos config set backend local\n" : ""}mnemos entries set city Lisbon --user ana`}>
            Programs keep keys and values about users here${isOff && ", if a backend is set"}.<//>`
        : html`<${Table} heads=${["user", "#entries"]} rows=${users.map((one) => [html`<a data-row
            href=${to("people", one.user)}><${Line} text=${one.user} most=${80} /></a>`, num(one.entries)])} />`}<//>`;
}

export default function People({ rest, params }) {
  if (rest) return html`<${Person} key=${rest} user=${rest} opened=${params.key} />`;
  if (params.open) return html`<${Lost} key=${params.open} id="entry:${params.open}" find=${findEntry} />`;
  return html`<${List} />`;
}
