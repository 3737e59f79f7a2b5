import { act, can, to, useCall } from "../core.js";
import { Confirm } from "../confirm.js";
import { Empty, Line, Loaded, SessionLink, Stored, num, plural } from "../ui.js";
import { html, useState } from "../vendor/preact.js";

function Template({ name }) {
  const found = useCall("templates_show", { name });
  const [isDoomed, doom] = useState(false);
  return html`<a class="back" data-key="back" href=${to("templates")}>‹ Templates</a><${Loaded} of=${found}>${({ template: one }) => html`
    <div class="tools"><h1><${Line} text=${one.name} most=${80} /></h1>${can("templates_delete") && html`<button class="end quiet" data-key="#" onClick=${() => doom(true)}>delete</button>`}</div>
    <p class="muted"><${Line} text=${one.description} most=${200} /> · ${one.task_type} · used ${plural(one.usage_count, "time")} · extracted from <${SessionLink} id=${one.source_session_id} /></p>
    <ol class="statements">${one.examples.map((call, at) => html`<li key=${at} class="statement" data-row tabindex="-1"><header class="row"><b><code><${Line} text=${call.tool_name} most=${60} /></code></b><span class="tag ${call.success ? "accent" : "bad"}">${call.success ? "succeeded" : "failed"}</span></header>
      <${Stored} text=${JSON.stringify(call.arguments, null, 1)} isCode most=${1500} /><details><summary>result</summary><${Stored} text=${call.result} isCode most=${3000} /></details></li>`)}</ol>
    ${isDoomed && html`<${Confirm} title="Delete ${one.name}" name="templates_delete" args=${{ name }} note="This can be undone." close=${() => doom(false)} done=${() => act("templates_delete", { name }).then(() => (location.hash = to("templates")))} />`}`}<//>`;
}

const share = (value) => (value == null ? "–" : value.toFixed(2));

function Experiment() {
  const found = useCall("templates_experiment");
  return html`<section class="panel" aria-labelledby="experiment"><header><h2 id="experiment">Do templates help?</h2></header><${Loaded} of=${found}>${(data) => html`
    <p class="muted">${num(data.with_template)} conversations with a template, ${num(data.without_template)} without.${data.enough ? "" : " Too few to tell."}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="measures"><table><thead><tr><th>measure</th><th class="number">with</th><th class="number">without</th><th>verdict</th></tr></thead><tbody>${data.measures.map((one) => html`<tr key=${one.name}><td>${one.name}</td><td class="number">${share(one.with_mean)}</td><td class="number">${share(one.without_mean)}</td><td class="muted">${one.verdict}</td></tr>`)}</tbody></table></div>`}<//></section>`;
}

export default function Templates({ rest }) {
  const found = useCall("templates_list", {}, { skip: !!rest });
  const ideas = useCall("templates_suggest", { limit: 10 }, { skip: !!rest });
  if (rest) return html`<${Template} key=${rest} name=${rest} />`;
  return html`<h1>Templates</h1><${Loaded} of=${found}>${({ templates }) =>
      templates.length === 0
        ? html`<${Empty} title="No templates yet">A template keeps the tool calls of a conversation that went well, so that the next one begins with them: <code>mnemos templates create SESSION</code><//>`
        : html`<table><thead><tr><th>name</th><th class="wide-only">tools</th><th>kind</th><th class="number">examples</th><th class="number">used</th></tr></thead><tbody>${templates.map((one) => html`<tr key=${one.name}><td><a data-row href=${to("templates", one.name)}><${Line} text=${one.name} most=${60} /></a></td><td class="muted wide-only"><${Line} text=${one.tools.join(", ")} most=${60} /></td><td class="muted">${one.task_type}</td><td class="number">${num(one.examples)}</td><td class="number">${num(one.usage_count)}</td></tr>`)}</tbody></table><br />`}<//>
    <div class="columns"><section class="panel" aria-labelledby="ideas"><header><h2 id="ideas">Conversations to extract from</h2></header><${Loaded} of=${ideas}>${({ suggestions }) =>
      suggestions.length === 0 ? html`<p class="muted">No conversation has tool calls that succeeded.</p>` : html`<ul class="list">${suggestions.map((one) => html`<li key=${one.session_id}><span class="grow"><${SessionLink} id=${one.session_id} title=${one.title} /><br /><span class="muted">${one.why.join("; ")}</span></span>${can("templates_create") && html`<button onClick=${() => act("templates_create", { session: one.session_id })}>extract</button>`}</li>`)}</ul>`}<//></section>
    <${Experiment} /></div>`;
}
