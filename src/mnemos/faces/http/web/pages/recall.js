// Ask, and see why: each score as a sum of reasons, what the model gets, and where a missing passage fell out.
import {
  Button, call, Check, Copy, Empty, Field, forget, given, html, line, Loaded, num, patternOf, placeOf, plural,
  Problem, revise, Select, Stored, Table, time, to, useCall, useEffect, usePause, useState,
} from "../forms.js";

const KINDS = ["message", "fact", "note", "entry", "template", "table"];
const GROUPS = ["words", "meaning", "conversation", "answer", "who", "time", "order"];
const BUDGET = 2400;

const settings = ({ q = "", kind, source, since, until, budget, words }) => ({
  query: q,
  explain: true,
  ...given({ kinds: kind && [kind], source, since, until, budget: Number(budget), words_only: !!words }),
});

const add = (parts) => parts.reduce((sum, part) => sum + part.points, 0);
// Less than this is not worth a colour; the table of parts has it.
const LEAST = 0.05;

function weigh(parts) {
  const groups = GROUPS.map((group) => [group, add(parts.filter((part) => part.group === group && part.points > 0))]);
  const less = -add(parts.filter((part) => part.points < 0));
  return { groups: groups.filter(([, points]) => points >= LEAST), less: less >= LEAST ? less : 0 };
}

/** The length of a bar: what counts for a hit, and what counts against it. */
const lengthOf = (parts) => {
  const { groups, less } = weigh(parts);
  return groups.reduce((sum, [, points]) => sum + points, less);
};

const two = (value) => value.toFixed(2);
const Parts = ({ parts }) => html`<div class="scroll parts" tabindex="0" role="region" aria-label="parts"><${Table}
  heads=${["part", "#value", "#weight", "#points", "because"]}
  rows=${parts.map((part) => [part.label, two(part.value), two(part.weight), two(part.points), part.sentence])}
  foot=${["score", "", "", two(add(parts)), ""]} /></div>`;

/** A score as a bar of reasons; `most` is the length of the longest bar, so that bars can be compared. */
function Sum({ parts, score, most, children }) {
  const [isOpen, open] = useState(false);
  const { groups, less } = weigh(parts);
  const scale = 100 / (most ?? lengthOf(parts));
  const said = [...groups, ...(less ? [["less", -less]] : [])].map(([group, points]) => [group, points.toFixed(1)]);
  return html`<div class="sum">
    <div class="stack" role="img"
      aria-label="score ${two(score)}: ${said.map((one) => one.join(" ")).join(", ")}">
      ${groups.map(([group, points]) => html`<i key=${group} class="group-${group}"
        style=${{ width: `${scale * points}%` }}></i>`)}
      ${less > 0 && html`<i class="less" style=${{ width: `${scale * less}%` }}></i>`}</div>
    <div class="row"><p class="legend">${said.map(([group, points]) => html`<span key=${group}>
      <i class="dot ${group === "less" ? "less" : `group-${group}`}"></i>${group} <span class="number">${points}
        </span></span>`)}</p>
      <span class="does"><button class="plain" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>
        ${isOpen ? "▾" : "▸"} why</button>${children}</span></div>
    ${isOpen && html`<${Parts} parts=${parts} />`}
  </div>`;
}

function Text({ hit, pattern }) {
  const [from, until] = hit.place ?? [0, 0];
  const isPart = until > from && (from > 0 || until < hit.text.length);
  if (!isPart) return html`<${Stored} text=${hit.text} most=${800} pattern=${pattern} />`;
  return html`<div class="stored" dir="auto">
    <span class="muted">${line(hit.text.slice(Math.max(0, from - 80), from), undefined, pattern)}</span>
    ${" "}${line(hit.text.slice(from, until), 600, pattern)}
    ${" "}<span class="muted">${line(hit.text.slice(until, until + 80), undefined, pattern)}</span></div>`;
}

/** The message before a hit: an answer is hard to judge without its question. */
function Before({ hit }) {
  const found = useCall("sessions_messages", { session: hit.session_id, before: hit.ref, limit: 1 });
  const one = found.data?.messages[0];
  const text = typeof one?.content === "string" ? one.content : "";
  // The line is kept while its text is asked for, so that the hits stay where they are.
  return html`<p class="before muted">${text ? html`before: “${line(text, 140)}”` : found.data && !one
    ? "the first message of its conversation" : "\u00a0"}</p>`;
}

const FATES = {
  cut: "shortened to fit the budget",
  doubled: "says the same as another hit",
  "left out": "better hits used up the budget",
};

function Hit({ hit, rank, most, pattern }) {
  const { parts, packed, same_as } = hit.explained;
  const erase = () => forget([`${hit.kind}:${hit.ref}`]);
  return html`<li class="hit" data-row tabindex="-1">
    <header><b class="number muted">${rank}</b><span class="tag">${hit.kind}</span>
      <b class="grow">${line(hit.title)}</b>
      ${hit.state !== "current" && html`<span class="tag warn">${hit.state}</span>`}
      ${packed !== "whole" && html`<span class="tag" title=${FATES[packed]}>
        ${packed}${same_as ? `: same as ${same_as}` : ""}</span>`}
      <span class="muted">${hit.speaker && html`${line(hit.speaker, 20)} · `}${time(hit.at)}</span>
      <b class="number score">${two(hit.score)}</b></header>
    ${hit.kind === "message" && rank <= 5 && html`<${Before} hit=${hit} />`}
    <${Text} hit=${hit} pattern=${pattern} />
    <${Sum} parts=${parts} score=${hit.score} most=${most}>
      <a data-key="open" href=${placeOf(hit)}>open</a>
      ${hit.kind !== "table" && html`<${Button} needs="forget" hint="#" onClick=${erase}>forget<//>`}<//>
  </li>`;
}

async function findReference(text) {
  if (/^\d+$/.test(text)) return `message:${text}`;
  if (/^\w+:\S+$/.test(text)) return text;
  const { hits } = await call("sessions_search", { query: text, limit: 1 }).catch(() => ({ hits: [] }));
  return hits.length ? `message:${hits[0].id}` : null;
}

function Probed({ found }) {
  const isMessage = found.ref.startsWith("message:");
  return html`<div role="status"><p><span class="tag accent">${found.stage.replaceAll("_", " ")}</span>
      ${found.rank ? html` rank <b>${num(found.rank)}</b>, score <b>${two(found.score)}
        </b>. ` : " "}${found.sentence}
      ${isMessage && html` <a href=${to("sessions", `@${found.ref.slice(8)}`)}>${found.ref}</a>`}</p>
    ${found.parts.length > 0 && html`<${Sum} parts=${found.parts} score=${found.score} />`}</div>`;
}

function Probe({ params, args, set, mark }) {
  const [text, type] = useState(params.probe ?? "");
  const [problem, fail] = useState("");
  const found = useCall("recall", { ...args, probe: params.probe }, { skip: !params.probe });
  const submit = async (event) => {
    event.preventDefault();
    const ref = await findReference(text.trim());
    fail(ref ? "" : "No message has these words.");
    if (ref) set({ probe: ref });
  };
  const probed = found.data?.explanation?.probed;
  return html`<form class="probe panel" onSubmit=${submit}>
    <label for="probe${mark}"><h2>Not here?</h2></label>
    <p class="muted">Enter the id of a message, or some of its words, to see why it is not among the hits.</p>
    <div class="tools"><input id="probe${mark}" class="grow" placeholder="message id or words" value=${text}
      onInput=${(e) => type(e.target.value)} /><button disabled=${!text.trim()}>Look</button></div>
    ${problem && html`<p class="muted" role="status">${problem}</p>`}
    ${found.error && html`<${Problem} error=${found.error} />`}
    ${probed && html`<${Probed} found=${probed} />`}
  </form>`;
}

function Understood({ about }) {
  const { understood, counts, milliseconds } = about;
  const spent = Object.values(milliseconds).reduce((sum, one) => sum + one, 0);
  const when = understood.since == null ? "" : html` · ${time(understood.since)} to ${time(understood.until)}`;
  const words = understood.words.map((word, at) => [word, `${Math.round(100 * understood.shares[at])}%`, num(understood.passages[at])]);
  return html`<details class="understood"><summary><span>understood: <b>
    ${understood.words.join(", ") || "no words to look for"}</b>
      ${understood.asks_for.length > 0 && ` · asks for ${understood.asks_for.join(", ")}`}${when}</span>
      <span class="muted number">
        ${num(counts.judged)} judged · ${num(counts.shown)} shown · ${Math.round(spent)} ms</span></summary>
    <div class="columns"><${Table} heads=${["word", "#counts", "#passages"]} rows=${words} />
      <${Table} heads=${["stage", "#passages"]}
        rows=${Object.entries(counts).map(([name, one]) => [name.replaceAll("_", " "), num(one)])} />
      <${Table} heads=${["step", "#ms"]}
        rows=${Object.entries(milliseconds).map(([name, ms]) => [name, ms.toFixed(1)])} /></div>
  </details>`;
}

/** A recall of the log: the ranks of its hits then, and now. */
function Then({ id, hits }) {
  const found = useCall("recalls", { before: Number(id) + 1, limit: 1 });
  const was = found.data?.recalls[0];
  if (!was || String(was.id) !== id) return null;
  const now = hits.map((hit) => `${hit.kind}:${hit.ref}`);
  const rank = (refs, ref) => (refs.includes(ref) ? refs.indexOf(ref) + 1 : "–");
  const rows = [...new Set([...was.hits, ...now.slice(0, was.hits.length)])].map((ref) => [ref, rank(was.hits, ref), rank(now, ref)]);
  const moved = rows.filter(([, then, at]) => then !== at).length;
  return html`<details class="notice"><summary>Asked by ${line(was.actor, 30)}, ${time(was.at)}:
      ${` ${plural(was.hits.length, "hit")}, ${plural(was.tokens, "token")}, ${Math.round(was.milliseconds)} ms. `}
      ${moved ? `${plural(moved, "rank")} changed since.` : "The same hits in the same order now."}</summary>
    <${Table} heads=${["hit", "#rank then", "#rank now"]} rows=${rows} /></details>`;
}

function Given({ data, params, mark }) {
  const fates = Object.entries(Object.groupBy(data.hits, (hit) => hit.explained?.packed ?? "whole"));
  const left = fates.filter(([fate]) => fate !== "whole").map(([fate, list]) => `${num(list.length)} ${fate}: ${FATES[fate]}`);
  const tokens = data.explanation?.tokens;
  const size = tokens != null ? `${num(tokens)} of ${num(Number(params.budget) || BUDGET)} tokens` : plural(data.packed.length, "character");
  return html`<section class="panel given" aria-labelledby="given${mark}">
    <header><h2 id="given${mark}">What the model gets${mark && " (2)"}</h2><span class="muted number">${size}
      </span></header>
    ${data.packed
      ? html`<pre tabindex="0" id="packed${mark}"><${Stored} text=${data.packed} isCode most=${100000} /></pre>`
      : html`<p class="muted">Nothing is put into the prompt.</p>`}
    <footer class="row"><span class="muted">${data.certainty !== "good" && html`certainty: ${data.certainty}<br />`}
      ${left.map((one) => html`<span key=${one}>${one}<br /></span>`)}</span><${Copy}
        text=${data.packed} /></footer></section>`;
}

function Nothing({ data }) {
  const reason = data.explanation?.counts.judged
    ? "None of the passages that were judged is about the question."
    : "No passage shares its words or its meaning.";
  return html`<${Empty} title="Nothing answers this">
    ${reason} Ask with other words, or look below for a message that you
    expected.<//>`;
}

function Answer({ data, params, args, set, mark }) {
  const most = Math.max(1, ...data.hits.map((hit) => lengthOf(hit.explained.parts)));
  const pattern = patternOf(data.explanation?.understood.words ?? []);
  return html`${data.explanation && html`<${Understood} about=${data.explanation} />`}
    ${data.notes.map((note) => html`<p class="notice">${note}</p>`)}
    ${params.was && html`<${Then} id=${params.was} hits=${data.hits} />`}
    <div class="answer">
      <section aria-label="hits ${mark}">
        ${data.hits.length === 0
          ? html`<${Nothing} data=${data} />`
          : html`<ol class="hits">${data.hits.map((hit, at) => html`<${Hit} key=${hit.kind + hit.ref} hit=${hit}
            rank=${at + 1}
              most=${most} pattern=${pattern} />`)}</ol>`}
        <${Probe} key=${params.q} params=${params} args=${args} set=${set} mark=${mark} />
      </section>
      <${Given} data=${data} params=${params} mark=${mark} />
    </div>`;
}

const rename = (params, as) => Object.fromEntries(Object.entries(params).flatMap(([key, value]) => (as(key) ? [[as(key), value]] : [])));

function Filters({ params, set }) {
  const budget = params.budget ?? BUDGET;
  const field = (name, hint) => html`<label>${name} <${Field} class="short" placeholder=${hint} value=${params[name]}
    commit=${(value) => set({ [name]: value })} /></label>`;
  return html`<div class="tools">
    <label>kind <${Select} choices=${[["", "all"], ...KINDS]} value=${params.kind ?? ""}
      pick=${(kind) => set({ kind })} /></label>
    ${field("source", "")}${field("since", "3 weeks ago")}${field("until", "today")}
    <label class="range">budget <input type="range" min="100" max="4000" step="100" value=${budget}
      onChange=${(e) => set({ budget: e.target.value })} /> <span class="number">${num(Number(budget))}</span></label>
    <${Check} label="words only" isOn=${params.words} pick=${(isOn) => set({ words: isOn && "1" })} />
  </div>`;
}

/** A question and its answer. In the address, names of the second column end with 2. */
function Column({ all, mark, children }) {
  const params = rename(all, (key) => key.endsWith("2") === !!mark && key.replace("2", ""));
  const [text, type] = useState(params.q ?? "");
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
  const submit = (event) => {
    event.preventDefault();
    set({ q: text.trim() });
  };
  return html`<div><form class="question" role="search" aria-label=${mark ? "ask for comparison" : "ask"}
    onSubmit=${submit}>
      <div class="row"><input id="ask${mark}" class="grow" type="search" autocomplete="off" value=${text}
        aria-label=${mark ? "Question to compare with" : "Ask the memory"} onInput=${(e) => type(e.target.value)}
        placeholder="Ask in plain words: which queue did we choose for the emails?" />${children}</div>
      <${Filters} params=${params} set=${set} />
    </form>
    ${params.q
      ? html`<${Loaded} of=${answer}>${(data) => html`<${Answer} data=${data} params=${params} args=${args} set=${set}
        mark=${mark} />`}<//>`
      : html`<${Empty}
        title="Ask the memory">Each hit shows what its score is made of. Next to the hits is exactly the text that a model gets.<//>`}</div>`;
}

export default function Recall({ params }) {
  const isTwo = "q2" in params;
  const compare = () => {
    revise("recall", "", { ...params, ...rename(params, (key) => key !== "probe" && `${key}2`) });
    requestAnimationFrame(() => document.querySelector("#ask2")?.focus());
  };
  const close = () => revise("recall", "", rename(params, (key) => !key.endsWith("2") && key));
  return html`<h1 class="unseen">Recall</h1>
    <div class=${isTwo ? "compared" : ""}><${Column} all=${params} mark="">
        ${params.q && !isTwo && html`<button type="button" onClick=${compare}>compare</button>`}<//>
    ${isTwo && html`<${Column} all=${params} mark="2"><button type="button"
      onClick=${close}>close comparison</button><//>`}</div>`;
}
