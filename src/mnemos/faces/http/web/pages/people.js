import {
  act, Button, Call, confirm, edit, Empty, Head, html, line, Lost, num, plural, Stored, Table, time, to, useCall,
} from "../forms.js";

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

const New = ({ user }) => html`<${Button} needs="entries_set" class="main" hint="n"
  onClick=${() => change(user && { user })}>New entry <kbd>n</kbd><//>`;

function Entry({ user, one, isHere }) {
  const { key } = one;
  const remove = () => confirm({ title: `Delete ${key}`, name: "entries_delete", args: { user, key } });
  return html`<li data-row tabindex="-1" class=${isHere ? "here" : ""}><b>${line(key)}</b>
    <${Stored} text=${one.value} most=${1000} /><span class="muted number">${time(one.updated_at)}</span>
    <span class="does">
      <${Button} needs="entries_set" hint="e" onClick=${() => change({ ...one, user })}>change<//>
      <${Button} needs="entries_delete" hint="#" onClick=${remove}>delete<//></span></li>`;
}

function Person({ user, opened }) {
  return html`<${Head} page="people" name="People" title=${line(user)}><${New} user=${user} /><//>
    <${Call} name="entries_list" args=${{ user, values: true, limit: 500 }}>${({ entries }) => html`<p class="muted">${plural(entries.length, "entry", "entries")}</p>
      <ul class="entries">${entries.map((one) => html`<${Entry} key=${one.key} user=${user} one=${one}
        isHere=${one.key === opened} />`)}</ul>`}<//>`;
}

function findEntry({ explained }) {
  const user = /^entry of (.*) in /.exec(explained?.where)?.[1];
  return user && ["people", user, { key: explained.content.split(": ")[0] }];
}

function List() {
  const isOff = /^null/.test(useCall("entries_info").data?.backend);
  return html`<div class="tools"><h1 class="grow">People</h1>${!isOff && html`<${New} />`}</div>
    <${Call} name="entries_users">${({ users }) =>
      users.length === 0
        ? html`<${Empty} title="Nothing about people yet" commands=${`${isOff ? "mnemos config set backend local\n" : ""}mnemos entries set city Lisbon --user ana`}>
            Programs keep keys and values about users here${isOff && ", if a backend is set"}.<//>`
        : html`<${Table} heads=${["user", "#entries"]} rows=${users.map((one) => [html`<a data-row
            href=${to("people", one.user)}>${line(one.user)}</a>`, num(one.entries)])} />`}<//>`;
}

export default function People({ rest, params }) {
  if (rest) return html`<${Person} key=${rest} user=${rest} opened=${params.key} />`;
  if (params.open) return html`<h1>People</h1><${Lost} key=${params.open} id="entry:${params.open}" find=${findEntry} />`;
  return html`<${List} />`;
}
