// Ask, and see why: each score as a sum of reasons, what the model gets, and where a missing passage fell out.
import { call, can, revise, to, useCall } from "../core.js";
import { Forget } from "../confirm.js";
import { Copy, Empty, Field, Line, Loaded, Problem, Stored, Time, num, plural, usePause } from "../ui.js";
import { html, useEffect, useState } from "../vendor/preact.js";

const KINDS = ["message", "fact", "note", "entry", "template", "table"];
const GROUPS = ["words", "meaning", "conversation", "answer", "who", "time", "order"];
const BUDGET = 2400;

function settings({ q = "", kind, source, since, until, budget, words }) {
  return { query: q, explain: true, ...(kind && { kinds: [kind] }), ...(source && { source }), ...(since && { since }), ...(until && { until }), ...(budget && { budget: Number(budget) }), ...(words && { words_only: true }) };
}

export function placeOf(hit) {
  if (hit.kind === "message") return to("sessions", `${hit.session_id}@${hit.ref}`);
  if (hit.kind === "fact") return to("facts", "", { open: hit.ref });
  return to({ note: "notebook", entry: "people", template: "templates", table: "workspace" }[hit.kind] ?? "recall");
}

function Sum({ parts, score, children }) {
  const [isOpen, open] = useState(false);
  const groups = GROUPS.map((group) => [group, parts.filter((part) => part.group === group && part.points > 0).reduce((sum, part) => sum + part.points, 0)]).filter(([, points]) => points > 0);
  const less = parts.filter((part) => part.points < 0).reduce((sum, part) => sum + part.points, 0);
  const total = groups.reduce((sum, [, points]) => sum + points, 0) - less;
  return html`<div class="sum">
    <div class="stack" role="img" aria-label="score ${score.toFixed(2)}: ${groups.map(([group, points]) => `${group} ${points.toFixed(1)}`).join(", ")}${less ? `, less ${(-less).toFixed(1)}` : ""}">
      ${groups.map(([group, points]) => html`<i key=${group} class="group-${group}" style=${{ width: `${(100 * points) / total}%` }}></i>`)}
      ${less < 0 && html`<i class="less" style=${{ width: `${(-100 * less) / total}%` }}></i>`}</div>
    <p class="legend">${groups.map(([group, points]) => html`<span key=${group}><i class="dot group-${group}"></i>${group} <span class="number">${points.toFixed(1)}</span></span>`)}
      ${less < 0 && html`<span><i class="dot less"></i>less <span class="number">${less.toFixed(1)}</span></span>`}</p>
    <div class="row"><button class="plain" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>${isOpen ? "▾" : "▸"} ${plural(parts.length, "part")}</button>${children}</div>
    ${isOpen && html`<div class="scroll"><table class="parts"><thead><tr><th>part</th><th class="number">value</th><th class="number">weight</th><th class="number">points</th><th class="why">because</th></tr></thead>
      <tbody>${parts.map((part) => html`<tr key=${part.name}><td>${part.label}</td><td class="number">${part.value.toFixed(2)}</td><td class="number">${part.weight.toFixed(2)}</td><td class="number">${part.points.toFixed(2)}</td><td class="why">${part.sentence}</td></tr>`)}</tbody>
      <tfoot><tr><th>score</th><td></td><td></td><td class="number"><b>${parts.reduce((sum, part) => sum + part.points, 0).toFixed(2)}</b></td><td></td></tr></tfoot></table></div>`}
  </div>`;
}

function Text({ hit }) {
  const [from, until] = hit.place ?? [0, 0];
  const isPart = until > from && (from > 0 || until < hit.text.length);
  if (!isPart) return html`<${Stored} text=${hit.text} most=${800} />`;
  return html`<div class="stored" dir="auto"><span class="muted"><${Line} text=${hit.text.slice(Math.max(0, from - 80), from)} /></span> <mark><${Line} text=${hit.text.slice(from, until)} most=${600} /></mark> <span class="muted"><${Line} text=${hit.text.slice(until, until + 80)} /></span></div>`;
}

function Hit({ hit, rank, forget }) {
  const { explained } = hit;
  const fate = explained.packed;
  return html`<li class="hit" data-row tabindex="-1">
    <header class="row"><span class="grow"><b class="number">${rank}</b>
      <span class="tag">${hit.kind}</span> ${hit.title && html`<span class="title"><${Line} text=${hit.title} most=${60} /></span>`}</span>
      <span class="muted">${hit.speaker && html`<${Line} text=${hit.speaker} most=${20} /> · `}<${Time} at=${hit.at} /></span><b class="number score">${hit.score.toFixed(2)}</b></header>
    <${Text} hit=${hit} />
    <${Sum} parts=${explained.parts} score=${hit.score}>
      <span class="grow">${hit.state !== "current" && html`<span class="tag warn">${hit.state}</span> `}${fate !== "whole" && html`<span class="tag">${fate}${explained.same_as ? `: same as ${explained.same_as}` : ""}</span>`}</span>
      <span class="does"><a data-key="open" href=${placeOf(hit)}>open</a>
      ${can("forget") && hit.kind !== "table" && html`<button class="plain" data-key="#" onClick=${() => forget(hit)}>forget</button>`}</span>
    <//>
  </li>`;
}

function Probe({ params, args, set, mark }) {
  const [text, type] = useState(params.probe ?? "");
  const [problem, fail] = useState("");
  const found = useCall("recall", { ...args, probe: params.probe }, { skip: !params.probe });
  const submit = async (event) => {
    event.preventDefault();
    fail("");
    let ref = text.trim();
    if (/^\d+$/.test(ref)) ref = `message:${ref}`;
    else if (!/^\w+:\S+$/.test(ref)) {
      const hits = await call("sessions_search", { query: ref, limit: 1 }).then((answer) => answer.hits, () => []);
      if (!hits.length) return fail(`No message has these words.`);
      ref = `message:${hits[0].id}`;
    }
    set({ probe: ref });
  };
  const probed = found.data?.explanation?.probed;
  return html`<form class="probe panel" onSubmit=${submit}>
    <label for="probe${mark}"><h2>Not here?</h2></label>
    <p class="muted">Name a message, or words of it, to see where it fell out.</p>
    <div class="tools"><input id="probe${mark}" class="grow" placeholder="message id or words" value=${text} onInput=${(e) => type(e.target.value)} /><button disabled=${!text.trim()}>Look</button></div>
    ${problem && html`<p class="muted" role="status">${problem}</p>`}
    ${found.error && html`<${Problem} error=${found.error} />`}
    ${probed && html`<div role="status"><p><span class="tag accent">${probed.stage.replaceAll("_", " ")}</span> ${probed.rank ? html`rank <b>${num(probed.rank)}</b>, score <b>${probed.score.toFixed(2)}</b>. ` : ""}${probed.sentence}
      ${probed.ref.startsWith("message:") && html` <a href=${to("sessions", `@${probed.ref.slice(8)}`)}>${probed.ref}</a>`}</p>
      ${probed.parts.length > 0 && html`<${Sum} parts=${probed.parts} score=${probed.score} />`}</div>`}
  </form>`;
}

function Understood({ about }) {
  const { understood, counts, milliseconds } = about;
  const spent = Object.values(milliseconds).reduce((sum, one) => sum + one, 0);
  const when = understood.since == null ? "" : html` · <${Time} at=${understood.since} /> to <${Time} at=${understood.until} />`;
  return html`<details class="understood"><summary><span>understood: <b>${understood.words.join(", ") || "no words to look for"}</b>
      ${understood.asks_for.length > 0 && ` · asks for ${understood.asks_for.join(", ")}`}${when}</span>
      <span class="muted number">${num(counts.judged)} judged · ${num(counts.shown)} shown · ${Math.round(spent)} ms</span></summary>
    <div class="columns"><table><thead><tr><th>word</th><th class="number">counts</th><th class="number">passages</th></tr></thead>
      <tbody>${understood.words.map((word, at) => html`<tr key=${word}><td>${word}</td><td class="number">${Math.round(100 * understood.shares[at])}%</td><td class="number">${num(understood.passages[at])}</td></tr>`)}</tbody></table>
    <table><thead><tr><th>stage</th><th class="number">passages</th></tr></thead><tbody>
      ${Object.entries(counts).map(([name, count]) => html`<tr key=${name}><td>${name.replaceAll("_", " ")}</td><td class="number">${num(count)}</td></tr>`)}</tbody></table>
    <table><thead><tr><th>step</th><th class="number">ms</th></tr></thead><tbody>
      ${Object.entries(milliseconds).map(([name, ms]) => html`<tr key=${name}><td>${name}</td><td class="number">${ms.toFixed(1)}</td></tr>`)}</tbody></table></div>
  </details>`;
}

function Then({ id, hits }) {
  const found = useCall("recalls", { before: Number(id) + 1, limit: 1 });
  const was = found.data?.recalls[0];
  if (!was || String(was.id) !== id) return null;
  const gone = was.hits.filter((ref) => !hits.some((hit) => `${hit.kind}:${hit.ref}` === ref));
  return html`<p class="notice">Asked by <${Line} text=${was.actor} most=${30} /> on <${Time} at=${was.at} />: ${plural(was.hits.length, "hit")}, ${plural(was.tokens, "token")}, ${Math.round(was.milliseconds)} ms. ${gone.length ? `No longer among the hits: ${gone.slice(0, 9).join(", ")}.` : "The hits of then are among those of now."}</p>`;
}

function Answer({ data, params, args, forget, set, mark }) {
  const left = data.hits.filter((hit) => hit.explained && hit.explained.packed !== "whole");
  return html`${data.explanation && html`<${Understood} about=${data.explanation} />`}
    ${data.notes.map((note) => html`<p class="notice">${note}</p>`)}
    ${params.was && html`<${Then} id=${params.was} hits=${data.hits} />`}
    <div class="answer">
      <section aria-label="hits ${mark}">
        ${data.hits.length === 0 ? html`<${Empty} title="Nothing answers this">${data.explanation?.counts.judged ? "Passages were judged, and none is about the question." : "No passage has its words or meaning."} Ask with other words, or look below for a message that you expected.<//>` : html`<ol class="hits">${data.hits.map((hit, at) => html`<${Hit} key=${hit.kind + hit.ref} hit=${hit} rank=${at + 1} forget=${forget} />`)}</ol>`}
        <${Probe} key=${params.q} params=${params} args=${args} set=${set} mark=${mark} />
      </section>
      <section class="panel given" aria-labelledby="given${mark}"><header><h2 id="given${mark}">What the model gets${mark && " (2)"}</h2><span class="muted number">${data.explanation?.tokens != null ? `${num(data.explanation.tokens)} of ${num(Number(params.budget) || BUDGET)} tokens` : plural(data.packed.length, "character")}</span></header>
        ${data.packed ? html`<pre tabindex="0" id="packed${mark}"><${Stored} text=${data.packed} isCode most=${100000} /></pre>` : html`<p class="muted">Nothing is put into the prompt.</p>`}
        <footer class="row"><span class="muted">${data.certainty !== "good" ? `certainty: ${data.certainty}. ` : ""}${left.length ? `${num(left.length)} cut, doubled or left out` : ""}</span><${Copy} text=${data.packed} /></footer></section>
    </div>`;
}

const rename = (params, as) => Object.fromEntries(Object.entries(params).flatMap(([key, value]) => (as(key) ? [[as(key), value]] : [])));

/** A question and its answer. In the address, names of the second column end with 2. */
function Column({ all, mark, children }) {
  const params = rename(all, (key) => key.endsWith("2") === !!mark && key.replace("2", ""));
  const [text, type] = useState(params.q ?? "");
  const [doomed, doom] = useState(null);
  const settled = usePause(text.trim(), 300);
  const set = (change) => revise("recall", "", { ...all, ...rename(change, (key) => key + mark) });
  useEffect(() => {
    if (settled !== (params.q ?? "")) set({ q: settled, probe: "", was: "" });
  }, [settled]);
  useEffect(() => {
    if ((params.q ?? "") !== text.trim()) type(params.q ?? "");
  }, [params.q]);
  useEffect(() => {
    if (!params.q) document.querySelector(`#ask${mark}`)?.focus();
  }, []);
  const args = settings(params);
  const answer = useCall("recall", args, { skip: !params.q });
  return html`<div><form class="question" role="search" aria-label=${mark ? "ask for comparison" : "ask"} onSubmit=${(e) => (e.preventDefault(), set({ q: text.trim() }))}>
      <input id="ask${mark}" type="search" aria-label=${mark ? "Question to compare with" : "Ask the memory"} placeholder="Ask in plain words: which queue did we choose for the mails?" autocomplete="off" value=${text} onInput=${(e) => type(e.target.value)} />
      <div class="tools">
        <label>kind <select value=${params.kind ?? ""} onChange=${(e) => set({ kind: e.target.value })}><option value="">all</option>${KINDS.map((kind) => html`<option key=${kind} value=${kind}>${kind}</option>`)}</select></label>
        <label>source <${Field} class="short" value=${params.source} commit=${(value) => set({ source: value })} /></label>
        <label>since <${Field} class="short" placeholder="3 weeks ago" value=${params.since} commit=${(value) => set({ since: value })} /></label>
        <label>until <${Field} class="short" placeholder="today" value=${params.until} commit=${(value) => set({ until: value })} /></label>
        <label class="range">budget <input type="range" min="100" max="4000" step="100" value=${params.budget ?? BUDGET} onChange=${(e) => set({ budget: e.target.value })} /> <span class="number">${num(Number(params.budget ?? BUDGET))}</span></label>
        <label><input type="checkbox" checked=${!!params.words} onChange=${(e) => set({ words: e.target.checked ? "1" : "" })} />words only</label>
        ${children}
      </div>
    </form>
    ${params.q ? html`<${Loaded} of=${answer}>${(data) => html`<${Answer} data=${data} params=${params} args=${args} forget=${doom} set=${set} mark=${mark} />`}<//>` : html`<${Empty} title="Ask the memory">Each hit shows what its score is made of, and beside the hits is exactly the text that a model gets.<//>`}
    ${doomed && html`<${Forget} kind=${doomed.kind} id=${doomed.ref} close=${() => doom(null)} />`}</div>`;
}

export default function Recall({ params }) {
  const isTwo = "q2" in params;
  const compare = () => {
    revise("recall", "", { ...params, ...rename(params, (key) => key !== "probe" && `${key}2`) });
    requestAnimationFrame(() => document.querySelector("#ask2")?.focus());
  };
  return html`<h1 class="unseen">Recall</h1>
    ${isTwo && html`<div class="tools"><button class="quiet end" onClick=${() => revise("recall", "", rename(params, (key) => !key.endsWith("2") && key))}>close comparison</button></div>`}
    <div class=${isTwo ? "compared" : ""}><${Column} all=${params} mark="">${params.q && !isTwo && html`<button type="button" class="quiet" onClick=${compare}>compare</button>`}<//>
    ${isTwo && html`<${Column} all=${params} mark="2" />`}</div>`;
}
