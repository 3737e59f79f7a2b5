import { act, call } from "./core.js";
import { Dialog, Problem, Stored } from "./ui.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";

export function Confirm({ title, name, args, word = "", note, verb = "Delete", done, close }) {
  const [stake, set] = useState(null);
  const [typed, type] = useState("");
  useEffect(() => {
    call(name, args, { preview: true }).then(
      (answer) => set({ text: [answer.at_stake, ...answer.questions.map((one) => one.text)].filter(Boolean).join("\n") }),
      (error) => set({ error }),
    );
  }, []);
  const submit = (event) => {
    event.preventDefault();
    close();
    done();
  };
  const isReady = !!stake && !stake.error && typed === word;
  const go = useRef();
  // At once: an early Enter must not press another button.
  useLayoutEffect(() => {
    if (isReady && !word) go.current.focus();
  }, [isReady]);
  return html`<${Dialog} title=${title} close=${close}>
    <form onSubmit=${submit}>
      ${stake?.error ? html`<${Problem} error=${stake.error} />` : html`<div class="stake"><${Stored} text=${stake ? stake.text || "Nothing else is affected." : "…"} /></div>`}
      ${note && html`<p class="muted">${note}</p>`}
      ${word && html`<label>Type <b>${word}</b> to confirm <input autocomplete="off" autofocus value=${typed} onInput=${(e) => type(e.target.value)} /></label>`}
      <footer><button type="button" onClick=${close}>Cancel</button><button ref=${go} class="danger" disabled=${!isReady}>${verb}</button></footer>
    </form>
  </${Dialog}>`;
}

export const Forget = ({ kind, id, close }) => html`<${Confirm} title="Forget ${kind} ${id}" name="forget" args=${{ ref: `${kind}:${id}` }} word="forget" verb="Forget"
  note="It is erased from the database, its index and its vectors, and can't be restored. Backups still have it." close=${close} done=${() => act("forget", { ref: `${kind}:${id}` }, { canUndo: false })} />`;
