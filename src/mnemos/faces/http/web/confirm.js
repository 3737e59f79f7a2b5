import { act, call } from "./core.js";
import { Dialog, Problem, Stored } from "./ui.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";

/** Describe what a call would delete and asks; empty if it may simply be made. */
export async function findStake(name, args) {
  const { at_stake, questions } = await call(name, args, { preview: true });
  const asked = questions.map((one) => one.text.replace(/\s*Continue\?$/, ""));
  return [at_stake && `This deletes ${at_stake}.`, ...asked].filter(Boolean).join("\n");
}

/**
 * Asks before a change: shows `text`, or what the call `name` would delete.
 * @param stays leaves closing to `done`; @param word must be typed.
 */
export function Confirm({ title, text, name, args, word = "", note, verb = "Delete", stays = false, done, close }) {
  const [stake, set] = useState(text ? { text } : null);
  const [typed, type] = useState("");
  useEffect(() => {
    if (!text) findStake(name, args).then((found) => set({ text: found }), (error) => set({ error }));
  }, []);
  const submit = (event) => {
    event.preventDefault();
    if (!stays) close();
    done();
  };
  const isReady = !!stake && !stake.error && typed === word;
  const go = useRef();
  // At once: an early Enter must not press another button.
  useLayoutEffect(() => {
    if (isReady && !word) go.current.focus();
  }, [isReady]);
  const shown = stake ? stake.text || "Nothing is deleted." : "…";
  return html`<${Dialog} title=${title} close=${close}>
    <form onSubmit=${submit}>
      ${stake?.error
        ? html`<${Problem} error=${stake.error} />`
        : html`<div class="stake"><${Stored} text=${shown} /></div>`}
      ${note && html`<p class="muted">${note}</p>`}
      ${word && html`<label class="word"><span>Type <b>${word}</b> to confirm</span>
        <input autocomplete="off" autofocus value=${typed} onInput=${(e) => type(e.target.value)} /></label>`}
      <footer><button type="button" onClick=${close}>Cancel</button>
        <button ref=${go} class="danger" disabled=${!isReady}>${verb}</button></footer>
    </form>
  </${Dialog}>`;
}

/** Erases what references name; afterwards it names the files that may still contain it. */
export function Forget({ refs, close }) {
  const [traces, name] = useState("");
  const args = refs.length === 1 ? { ref: refs[0] } : { refs };
  const erase = async () => {
    const found = await act("forget", args);
    const isTraced = found && found.copies.length + found.tables.length + found.unsearched.length > 0;
    if (isTraced) name(found.text);
    else close();
  };
  if (traces)
    return html`<${Dialog} key="traces" title="Erased, but copies may remain" close=${close}>
      <div class="stake"><${Stored} text=${traces} /></div>
      <footer><button class="main" autofocus onClick=${close}>Close</button></footer>
    </${Dialog}>`;
  return html`<${Confirm} title="Forget ${refs.length === 1 ? refs[0].replace(":", " ") : `${refs.length} items`}"
    name="forget" args=${args} word="forget" verb="Forget" stays close=${close} done=${erase}
    note="It is erased from the database, its index and its vectors, and can't be restored.
      Backups made before still contain it: they are named afterwards." />`;
}
