import {
  call, can, Dialog, go, html, line, rights, show, switchSpace, toast, useEffect, usePause, useState,
} from "./forms.js";

const KEYS = [
  ["/", "ask the memory"],
  ["Ctrl K", "command palette"],
  ["j k", "next and previous row"],
  ["Enter", "open"],
  ["Esc", "close, or back"],
  ["[ ]", "previous and next hit"],
  ["e", "edit"],
  ["n", "new"],
  ["x", "select"],
  ["#", "forget or delete"],
  ["u", "undo the last change"],
  ["?", "this list"],
];

export function Keys({ pages }) {
  return html`<${Dialog} title="Keys">
    <div class="columns">${[KEYS, pages.map(([, name, letter]) => [`g ${letter}`, name])].map((list) => html`<dl
      class="keys">${list.map(([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`)}</dl>`)}</div>
  </${Dialog}>`;
}

export function Spaces() {
  const [spaces, set] = useState([rights.space]);
  useEffect(() => {
    if (can("spaces_list")) call("spaces_list").then((found) => set(found.spaces.map((one) => one.name)), () => {});
  }, []);
  const pick = (name) => {
    show(null);
    switchSpace(name).catch((error) => toast(error.message, { isError: true }));
  };
  return html`<${Dialog} title="Spaces">
    <p class="muted">A space is a separate memory: nothing is shared with another.</p>
    <ul class="list">${spaces.map((name) => html`<li><button class="plain" aria-pressed=${name === rights.space}
      onClick=${() => pick(name)}>${line(name)}</button></li>`)}</ul>
    <p class="muted">Another space: <code>mnemos ui --space NAME</code></p>
  </${Dialog}>`;
}

async function look(query, signal) {
  const asked = [
    can("sessions_search") && call("sessions_search", { query, limit: 5 }, { signal }).then((found) =>
      found.hits.map((hit) => ({
        kind: "message",
        text: hit.title || hit.session_id,
        more: hit.snippet.replace(/>>>|<<</g, ""),
        where: ["sessions", `${hit.session_id}@${hit.id}`],
      })),
    ),
    can("sessions_list") && call("sessions_list", { query, limit: 5 }, { signal }).then((found) =>
      found.sessions.filter((one) => one.title).map((one) => ({ kind: "conversation", text: one.title, more: one.source, where: ["sessions", one.id] })),
    ),
    can("memory_search") && call("memory_search", { query, limit: 5 }, { signal }).then((found) =>
      found.facts.map((fact) => ({ kind: "fact", text: fact.target, more: fact.content, where: ["facts", fact.target] })),
    ),
  ];
  const answers = await Promise.allSettled(asked.filter(Boolean));
  return answers.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}

export function Palette({ pages }) {
  const [text, type] = useState("");
  const [found, set] = useState([]);
  const [at, move] = useState(0);
  const query = usePause(text.trim(), 150);
  useEffect(() => {
    const stop = new AbortController();
    if (query.length > 1) look(query, stop.signal).then(set, () => {});
    else set([]);
    return () => stop.abort();
  }, [query]);
  const words = text.toLowerCase().split(/\s+/);
  const fits = (name) => words.every((word) => name.toLowerCase().includes(word));
  const choices = [
    ...(text.trim() ? [{ kind: "ask", text: text.trim(), where: ["recall", "", { q: text.trim() }] }] : []),
    ...pages.filter(([, name]) => fits(name)).map(([key, name, letter]) => ({ kind: "page", text: name, more: `g ${letter}`, where: [key] })),
    ...(text.trim() ? rights.operations.filter((name) => fits(name.replaceAll("_", " ") + name)).slice(0, 6).map((name) => ({ kind: "operation", text: name, where: ["everything", name] })) : []),
    ...found,
  ];
  const chosen = Math.min(at, choices.length - 1);
  const pick = (one) => {
    show(null);
    go(...one.where);
  };
  const onKey = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move((chosen + (event.key === "ArrowDown" ? 1 : choices.length - 1)) % choices.length);
    } else if (event.key === "Enter" && choices[chosen]) {
      event.preventDefault();
      pick(choices[chosen]);
    }
  };
  return html`<${Dialog} title="Go to">
    <input role="combobox" aria-expanded="true" aria-controls="choices"
      aria-label="page, conversation, fact or operation" aria-activedescendant="choice-${chosen}" autofocus
      placeholder="page, conversation, fact, operation" value=${text} onKeyDown=${onKey}
        onInput=${(e) => (type(e.target.value), move(0))} />
    <ul id="choices" class="choices" role="listbox" aria-label="choices">
      ${choices.map((one, index) => html`<li id="choice-${index}" role="option"
        aria-selected=${index === chosen} onClick=${() => pick(one)}>
        <span class="kind">${one.kind}</span><span>${line(one.text)}</span><span
          class="muted">${line(one.more)}</span></li>`)}
    </ul>
  </${Dialog}>`;
}
