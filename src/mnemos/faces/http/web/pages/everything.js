import {
  call, can, changed, Check, Copy, describe, Head, html, Loaded, Panel, Problem, rights, Search, Select, Stored, Tabs,
  to, useCall, useEffect, useState,
} from "../forms.js";

/** Text with the code between its backticks in a fixed font. */
const prose = (text = "") => text.split("`").map((part, at) => (at % 2 ? html`<code>${part}</code>` : part));

const NEEDS_PERSON = /\.? Needs \?person=true$/;
const kindOf = (field) => field.type ?? field.anyOf?.map((one) => one.type).find((one) => one && one !== "null") ?? "string";
const choicesOf = (field) => field.enum ?? field.anyOf?.find((one) => one.enum)?.enum;

function read(kind, text) {
  if (kind === "boolean") return text;
  if (kind === "integer" || kind === "number") return Number(text);
  if (kind === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return kind === "array" ? text.split(",").map((one) => one.trim()) : text;
  }
}

function Input({ name, field, isNeeded, value, set }) {
  const kind = kindOf(field);
  const choices = choicesOf(field);
  const id = `field-${name}`;
  if (kind === "boolean")
    return html`<div class="field"><${Check} label=${name} isOn=${value} pick=${(isOn) => set(isOn || undefined)} />
      <p class="muted">${prose(field.description)}</p></div>`;
  const onInput = (e) => set(e.target.value || undefined);
  const isNumber = kind === "integer" || kind === "number";
  const control = choices
    ? html`<${Select} id=${id} value=${value ?? ""} choices=${[["", "–"], ...choices.filter(Boolean)]}
        pick=${(one) => set(one || undefined)} />`
    : ["text", "content", "query"].includes(name)
      ? html`<textarea id=${id} rows="2" value=${value ?? ""} onInput=${onInput}></textarea>`
      : html`<input id=${id} type=${isNumber ? "number" : "text"} step="any" value=${value ?? ""}
        onInput=${onInput} />`;
  return html`<div class="field"><label for=${id}>${name}${isNeeded ? " (required)" : ""}</label>${control}
    <p class="muted">${prose(field.description?.replace(NEEDS_PERSON, ""))}</p></div>`;
}

const shell = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const option = (name) => `--${name.replaceAll("_", "-")}`;

function python(value) {
  if (value == null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${python(one)}`).join(", ")}}`;
}

function writeCommand(name, about, args, home) {
  const places = about["x-positional"] ?? [];
  const words = places.filter((one) => args[one] != null).flatMap((one) => [args[one]].flat().map((each) => shell(String(each))));
  const options = Object.entries(args).filter(([key]) => !places.includes(key)).flatMap(([key, value]) =>
    value === true
      ? [option(key)]
      : [value].flat().map((one) => `${option(key)} ${shell(typeof one === "object" ? JSON.stringify(one) : String(one))}`),
  );
  const where = [home && `--home ${shell(home)}`, rights.space !== "default" && `--space ${shell(rights.space)}`];
  return `mnemos ${[about["x-command"] ?? name, ...words, ...options, ...where.filter(Boolean)].join(" ")}`;
}

/** The same call in three ways, each complete: the address, the token, the home and the space of this page. */
function write(name, about, args, { home, isPerson }) {
  // The owner's token is for the space that the server was started with.
  const isOwner = home && rights.scope === "local" && rights.space === "default";
  const token = isOwner ? `$(cat ${shell(`${home}/token`)})` : "$MNEMOS_TOKEN";
  const opened = [home && JSON.stringify(home), rights.space !== "default" && `space=${JSON.stringify(rights.space)}`];
  const remote = `${JSON.stringify(location.origin)}, token=os.environ["MNEMOS_TOKEN"]`;
  return {
    curl: `curl ${shell(`${location.origin}/v1/${name}${isPerson ? "?person=true" : ""}`)} \\\n  -H "Authorization: Bearer ${token}" \\\n  -H "Content-Type: application/json" \\\n  -d ${shell(JSON.stringify(args))}`,
    Python: `${home ? "" : "import os\n"}import mnemos\n\nwith mnemos.open(${home ? opened.filter(Boolean).join(", ") : remote}) as memory:\n    print(memory.call(${JSON.stringify(name)}, ${python(args)})["text"])`,
    command: writeCommand(name, about, args, home),
  };
}

/** The home, if the memory is a file on this machine. */
function useHome() {
  const found = useCall("overview", {}, { skip: rights.scope !== "local" || !can("overview") });
  return /^(.*)[\\/][^\\/]+\.db$/.exec(found.data?.location)?.[1] ?? "";
}

function Answer({ found }) {
  if (found.error) return html`<${Problem} error=${found.error} />`;
  if (!found.data) return null;
  const { text, ...rest } = found.data;
  return html`<section class="panel" aria-label="answer">${text && html`<${Stored} text=${text} />`}
    <details open=${!text}><summary>JSON</summary>
      <pre tabindex="0"><${Stored} text=${JSON.stringify(rest, null, 1)} isCode
        most=${8000} /></pre></details></section>`;
}

function Operation({ name, about }) {
  const schema = about.requestBody?.content["application/json"].schema ?? { properties: {} };
  const fields = Object.entries(schema.properties ?? {}).filter(([key]) => key !== "user_id");
  const [values, set] = useState({});
  const [form, pick] = useState("curl");
  const [found, show] = useState({});
  const home = useHome();
  const given = fields.filter(([key]) => values[key] !== undefined);
  const args = Object.fromEntries(given.map(([key, field]) => [key, read(kindOf(field), values[key])]));
  const isPerson = given.some(([, field]) => NEEDS_PERSON.test(field.description));
  const isDeletion = about["x-scope"] === "admin";
  const run = (preview) =>
    call(name, args, { preview, person: isPerson }).then(
      (data) => (show({ data }), preview || about["x-scope"] === "read" || changed()),
      (error) => show({ error }),
    );
  const texts = write(name, about, args, { home, isPerson });
  return html`<${Head} page="everything" name="Everything" title=${html`<code>${name}</code>`}><span
      class="muted">scope ${about["x-scope"]}</span><//>
    <p>${prose(about.description ?? about.summary)}</p>
    <div class="columns"><form class="form panel" onSubmit=${(e) => (e.preventDefault(), run(isDeletion))}>
        ${fields.map(([key, field]) => html`<${Input} key=${key} name=${key} field=${field}
          isNeeded=${schema.required?.includes(key)}
          value=${values[key]} set=${(value) => set({ ...values, [key]: value })} />`)}
        ${!can(name) && html`<p class="muted">The token of this tab does not allow it.</p>`}
        ${can(name) && html`<footer class="does">${isDeletion
          ? html`<button type="button" onClick=${() => run(true)}>Preview</button>
              <button type="button" class="danger" disabled=${!found.data?.questions}
                onClick=${() => run(false)}>Run</button>`
          : html`<button class="main">Run</button>`}</footer>`}</form>
      <div class="stays"><section class="panel" aria-label="the same call">
          <div class="row"><${Tabs} label="form" choices=${Object.keys(texts).map((one) => [one, one])}
            value=${form} pick=${pick} />
            <${Copy} text=${texts[form]} /></div>
          <pre tabindex="0"><${Stored} text=${texts[form]} isCode most=${20000} /></pre></section>
        <${Answer} found=${found} /></div></div>`;
}

/** The first sentence of what is said about an operation. */
const firstOf = ({ description, summary }) => /^.+?[.:](?=\s|$)/s.exec(description ?? "")?.[0].replace(/:$/, ".") ?? summary;

export default function Everything({ rest }) {
  const [found, set] = useState({});
  const [words, type] = useState("");
  useEffect(() => {
    describe().then((data) => set({ data }), (error) => set({ error }));
  }, []);
  return html`<${Loaded} of=${found}>${({ paths }) => {
    const all = Object.entries(paths).filter(([path, one]) => path.startsWith("/v1/") && one.post).map(([path, one]) => [path.slice(4), one.post]);
    const chosen = all.find(([name]) => name === rest);
    if (chosen) return html`<${Operation} key=${rest} name=${rest} about=${chosen[1]} />`;
    const groups = Map.groupBy(all.filter(([name, one]) => !words || `${name} ${one.summary}`.toLowerCase().includes(words.toLowerCase())), ([, one]) => one.tags?.[0] ?? "other");
    return html`<div class="tools"><h1>Everything</h1><span class="muted grow">
        ${all.length} operations, each also a command and a tool</span><${Search}
        label="filter operations" value=${words} pick=${type} /></div>
      <div class="board">${[...groups].map(([tag, list]) => html`<${Panel} key=${tag} id="tag-${tag}" title=${tag}><ul
        class="list">${list.map(([name, one]) => html`<li key=${name}><span class="grow"><a class="target" data-row
          href=${to("everything", name)}>${name}</a><br /><span class="muted">${prose(firstOf(one))}</span></span>
          ${!can(name) && html`<span class="tag">not allowed</span>`}</li>`)}</ul><//>`)}</div>`;
  }}<//>`;
}
