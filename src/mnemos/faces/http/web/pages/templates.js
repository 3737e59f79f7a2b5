import {
  act, Button, Call, confirm, Empty, go, Head, html, line, Loaded, num, Panel, plural, SessionLink, Stored, Table, to,
  useCall, useState,
} from "../forms.js";

function Example({ call }) {
  return html`<li class="statement" data-row tabindex="-1">
    <header class="row"><b><code>${line(call.tool_name)}</code></b>
      <span class="tag ${call.success ? "accent" : "bad"}">${call.success ? "succeeded" : "failed"}</span></header>
    <${Stored} text=${JSON.stringify(call.arguments, null, 1)} isCode most=${1500} />
    <details><summary>result</summary><${Stored} text=${call.result} isCode most=${3000} /></details></li>`;
}

function Template({ name }) {
  const found = useCall("templates_show", { name });
  const remove = () => confirm({
    title: `Delete ${name}`, name: "templates_delete", args: { name },
    done: () => act("templates_delete", { name }).then((done) => done && go("templates")),
  });
  return html`<${Head} page="templates" name="Templates" title=${line(name)}>${found.data && html`<${Button}
    needs="templates_delete" hint="#" onClick=${remove}>delete<//>`}<//>
    <${Loaded} of=${found}>${({ template: one }) => html`
      ${!/^Extracted from session /.test(one.description) && html`<p>${line(one.description, 200)}</p>`}
      <p class="muted">${one.task_type} · used ${plural(one.usage_count, "time")} ·
        extracted from <${SessionLink} id=${one.source_session_id} /></p>
      <ol class="statements">${one.examples.map((call, at) => html`<${Example} key=${at} call=${call} />`)}</ol>`}<//>`;
}

const share = (value) => (value == null ? "–" : value.toFixed(2));

/** A panel that asks for its content only when somebody wants it: it reads many conversations. */
function OnDemand({ id, title, verb, name, args, children }) {
  const [isWanted, want] = useState(false);
  return html`<${Panel} id=${id} title=${title}>${isWanted
    ? html`<${Call} name=${name} args=${args}>${children}<//>`
    : html`<p class="muted">This reads many conversations and can take a few seconds.</p>
        <button onClick=${() => want(true)}>${verb}</button>`}<//>`;
}

const Measures = ({ with_template, without_template, enough, measures }) => html`
  <p class="muted">${num(with_template)} conversations with a template, ${num(without_template)} without.
    ${enough ? "" : " Too few to tell."}</p>
  <div class="scroll" tabindex="0" role="region" aria-label="measures"><${Table}
    heads=${["measure", "#with", "#without", "verdict"]}
    rows=${measures.map((one) => [one.name, share(one.with_mean), share(one.without_mean), one.verdict])} /></div>`;

function Ideas({ suggestions }) {
  if (!suggestions.length) return html`<p class="muted">No conversation has tool calls that succeeded.</p>`;
  return html`<ul class="list">${suggestions.map((one) => html`<li key=${one.session_id} data-row tabindex="-1">
    <span class="grow"><${SessionLink} id=${one.session_id} title=${one.title} /><br /><span class="muted">
      ${one.why.join("; ")}</span></span>
    <${Button} class="" needs="templates_create" hint="open"
      onClick=${() => act("templates_create", { session: one.session_id })}>extract<//></li>`)}</ul>`;
}

const List = ({ templates }) =>
  templates.length === 0
    ? html`<${Empty} title="No templates yet" commands="mnemos templates create SESSION">A template keeps the tool calls
        of a conversation that went well, so that the next one begins with them.<//>`
    : html`<${Table} heads=${["name", "~tools", "~kind", "#examples", "#used"]} rows=${templates.map((one) => [
        html`<a data-row href=${to("templates", one.name)}>${line(one.name)}</a>`,
        line(one.tools.join(", "), 60), one.task_type, num(one.examples), num(one.usage_count),
      ])} />`;

export default function Templates({ rest }) {
  const found = useCall("templates_list", {}, { skip: !!rest });
  if (rest) return html`<div key=${rest}><${Template} name=${rest} /></div>`;
  return html`<div key="list"><h1>Templates</h1>
    <${Loaded} of=${found}>${(data) => html`<div class="spaced"><${List} ...${data} /></div>
    <div class="columns">
      <${OnDemand} id="ideas" title="Conversations to extract from" verb="Look for them" name="templates_suggest"
        args=${{ limit: 10 }}>${(data) => html`<${Ideas} ...${data} />`}<//>
      <${OnDemand} id="experiment" title="Do templates help?" verb="Compare conversations" name="templates_experiment"
        args=${{}}>${(data) => html`<${Measures} ...${data} />`}<//></div>`}<//></div>`;
}
