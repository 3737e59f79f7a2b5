// The frame around the pages: navigation, keys, theme, messages.
import { can, enter, forget, go, lose, readAddress, rights, show, start, state, to, undoLast, useShared } from "./core.js";
import { html, render, useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "./vendor/preact.js";

/** Pages: address, name, key after g, an operation that it can't do without. */
export const PAGES = [
  ["overview", "Overview", "o", "overview"],
  ["recall", "Recall", "r", "recall"],
  ["sessions", "Conversations", "c", "sessions_list"],
  ["facts", "Facts", "f", "facts_list"],
  ["notebook", "Notebook", "n", "notebook_show"],
  ["workspace", "Workspace", "w", "sqlite_databases"],
  ["people", "People", "p", "entries_list"],
  ["templates", "Templates", "t", "templates_list"],
  ["live", "Live", "l", "changes"],
  ["log", "Log", "a", "log"],
  ["connections", "Connections", "i", "connect_found"],
  ["health", "Health", "h", "doctor"],
  ["everything", "Everything", "e", ""],
];
const offered = () => PAGES.filter(([, , , needs]) => !needs || can(needs));

const root = document.documentElement;
const THEMES = { system: "◐", light: "☀", dark: "☾" };
function setTheme(theme) {
  root.dataset.theme = theme;
  localStorage.setItem("theme", theme);
}
setTheme(localStorage.getItem("theme") in THEMES ? localStorage.getItem("theme") : "system");

function Theme() {
  const [theme, set] = useState(root.dataset.theme);
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(theme) + 1) % names.length];
  return html`<button class="quiet" aria-label="theme: ${theme}; change to ${next}" title="theme: ${theme}"
    onClick=${() => (setTheme(next), set(next))}>${THEMES[theme]}</button>`;
}

function SignIn() {
  const [token, set] = useState("");
  const submit = (event) => {
    event.preventDefault();
    enter(token);
  };
  return html`<main id="main" class="sign-in">
    <h1>Mnemos</h1>
    ${state.signIn && html`<p class="problem" role="alert">${state.signIn}</p>`}
    <p>To look at your memory, run this in a terminal. It opens a link that works once.</p>
    <pre tabindex="0">mnemos ui</pre>
    <form onSubmit=${submit}>
      <label>On another machine, paste a token made with <code>mnemos tokens create NAME</code>
        <input type="password" autocomplete="off" spellcheck="false" value=${token}
          onInput=${(e) => set(e.target.value)} /></label>
      <button disabled=${!token.trim()}>Open</button>
    </form>
  </main>`;
}

const modules = {};
function Page({ address }) {
  const { page } = address;
  const [tries, again] = useState(0);
  const [error, reset] = useErrorBoundary((e) => console.error(e));
  const entry = PAGES.find(([key]) => key === page);
  useLayoutEffect(() => {
    reset();
    if (!entry || modules[page]) return;
    // A module that could not be loaded is not asked for again, unless its address is another.
    import(`./pages/${entry[0]}.js${tries ? `?${tries}` : ""}`).then((module) => {
      modules[page] = module.default;
      again((n) => n + 1);
    }, lose);
  }, [page, tries]);
  useEffect(() => {
    const one = () => again((n) => n + 1);
    window.addEventListener("mnemos:again", one);
    return () => window.removeEventListener("mnemos:again", one);
  }, []);
  if (error) return html`<p class="problem" role="alert">This page failed: ${error.message}</p>`;
  if (!entry) return html`<h1>Not found</h1><p>There is no page ${`“${page}”`}. <a
    href=${to("overview")}>Overview</a></p>`;
  if (entry[3] && !can(entry[3])) return html`<h1>${entry[1]}</h1><p
    class="problem">The token of this tab does not allow ${entry[3]}.</p>`;
  const Body = modules[page];
  return Body ? html`<${Body} key=${page} ...${address} />` : html`<h1>${entry[1]}</h1><div class="waiting"
    aria-busy="true"></div>`;
}

/** Open a dialog of the palette's module: Palette, Keys or Spaces. */
const open = (name) =>
  import("./palette.js").then((module) => show(() => html`<${module[name]} key=${name} pages=${offered()} />`), lose);

const isTyping = (target) => /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !/^(checkbox|radio|range)$/.test(target.type);

function moveFocus(step) {
  const rows = [...document.querySelectorAll("#main [data-row]")];
  const now = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = rows[now < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, now + step))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** Press the control that a key stands for: in the focused row, else in the page. */
function press(name) {
  const row = document.activeElement?.closest("#main [data-row]");
  const found = row?.querySelector(`[data-key="${name}"]`) ?? (row?.matches(`[data-key="${name}"]`) ? row : null) ?? document.querySelector(`#main [data-key="${name}"]`);
  if (!found || found.disabled) return false;
  found.focus();
  found.click();
  return true;
}

const placeOf = ({ page, rest }) => `${page}/${rest.split("@")[0]}`;
/** The address that led to the open item, such as a question on Recall; empty after it was used. */
let origin = "";

function goBack() {
  const link = document.querySelector('#main [data-key="back"]');
  if (!link || !origin) return press("back");
  location.hash = origin;
  origin = "-";
  return true;
}

function useKeys() {
  // When g was pressed. Not 0, which is just now while the page is young.
  const waiting = useRef(-Infinity);
  useEffect(() => {
    const onKey = (event) => {
      const { key, target } = event;
      if (key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        if (!document.querySelector("dialog[open]")) open("Palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
      if (isTyping(target)) {
        if (key === "Escape") {
          // A search field would be emptied.
          event.preventDefault();
          target.blur();
        }
        return;
      }
      const after = performance.now() - waiting.current < 1500;
      waiting.current = -Infinity;
      let isDone = true;
      if (after && /^[a-z]$/.test(key)) {
        const page = offered().find(([, , letter]) => letter === key);
        if (page) go(page[0]);
      } else if (key === "g") waiting.current = performance.now();
      else if (key === "/") document.querySelector("#ask")?.focus();
      else if (key === "?") open("Keys");
      else if (key === "j" || key === "k") moveFocus(key === "j" ? 1 : -1);
      else if (key === "u" && (state.undo || can("undo"))) state.undo ? undoLast() : go("log");
      else if (key === "Enter" && target.matches("[data-row]:not(a):not(button)")) isDone = press("open");
      else if (key === "Escape") isDone = goBack();
      else if ("ex#[]n".includes(key)) isDone = press(key);
      else isDone = false;
      if (isDone) event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function Ask() {
  const [text, set] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (text.trim()) go("recall", "", { q: text.trim() });
  };
  return html`<form class="ask" role="search" aria-label="ask" onSubmit=${submit}>
    <input id="ask" type="search" aria-label="Ask the memory" placeholder="Ask the memory…   /"
      autocomplete="off" value=${text} onInput=${(e) => set(e.target.value)} />
  </form>`;
}

function Toast() {
  const { toast } = state;
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toast && html`<div class=${toast.isError ? "toast failed" : "toast"}><span>${toast.text}</span>
      ${toast.canUndo && html`<button onClick=${() => undoLast()}>Undo <kbd>u</kbd></button>`}</div>`}
  </div>`;
}

function App() {
  useShared();
  const [address, set] = useState(readAddress());
  const [isNavOpen, showNav] = useState(false);
  const main = useRef();
  useEffect(() => {
    let before = location.hash;
    const follow = (event) => {
      set((old) => {
        const next = readAddress();
        if (old.page !== next.page) setTimeout(() => main.current?.focus({ preventScroll: true }));
        // Without an old URL it is the same place under another address, see revise. After going back, only the
        // list is left: two items would lead to each other.
        const isItem = next.rest || next.params.open;
        if (event.oldURL && placeOf(old) !== placeOf(next)) {
          origin = origin === "-" || !isItem ? "" : before;
          state.dialog = null;
        }
        before = location.hash;
        return next;
      });
      showNav(false);
    };
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    document.title = `${PAGES.find(([key]) => key === address.page)?.[1] ?? "Mnemos"} · Mnemos`;
    window.scrollTo(0, 0);
  }, [address.page]);
  useKeys();
  if (!rights) return html`<${SignIn} />`;
  return html`
    <a class="skip" href="#main" onClick=${(e) => (e.preventDefault(), main.current.focus())}>Skip to the content</a>
    <header class="top">
      <button class="quiet menu" aria-label="menu" aria-expanded=${isNavOpen}
        onClick=${() => showNav(!isNavOpen)}>☰</button>
      <a class="brand" href=${to("overview")}>Mnemos</a>
      <button class="quiet space" title="space" onClick=${() => open("Spaces")}><span
        class="unseen">space: </span>${rights.space} ▾</button>
      ${address.page === "recall" ? html`<span class="grow"></span>` : html`<${Ask} />`}
      <button class="quiet" title="command palette" onClick=${() => open("Palette")}>
        <kbd class="wide-only">${/Mac/.test(navigator.platform) ? "⌘" : "Ctrl"} K</kbd><span
          class="narrow-only">⌕</span>
        <span class="unseen"> command palette</span></button>
      ${can("changes") && html`<a class="live-mark wide-only ${state.isDown ? "lost" : ""}" href=${to("live")}>
        <span aria-hidden="true">● </span>${state.isDown ? "not connected" : "live"}</a>`}
      <${Theme} />
    </header>
    ${state.isDown && html`<p class="down"
      role="alert">The server does not answer. Start it with <code>mnemos ui</code>; this page then reconnects by itself.</p>`}
    <nav class=${isNavOpen ? "side open" : "side"} aria-label="pages">
      ${offered().map(([key, name, letter]) => html`<a key=${key} href=${to(key)}
        aria-current=${address.page === key ? "page" : null}>${name}<kbd aria-hidden="true">${letter}
        </kbd></a>`)}
      <div class="foot muted">
        <button class="plain" onClick=${() => open("Keys")}>Keys <kbd>?</kbd></button>
        <span>${rights.version} · ${rights.scope}</span>
        <button class="plain" onClick=${() => forget("You signed out. Run the command for a new link.")}>Sign out</button>
      </div>
    </nav>
    <main id="main" tabindex="-1" ref=${main}><${Page} address=${address} /></main>
    <${Toast} />
    ${state.dialog?.()}`;
}

// The module of the page is loaded while the session is asked for, so that the first drawing is the page.
const { page } = readAddress();
const loaded = PAGES.some(([key]) => key === page) && import(`./pages/${page}.js`).then((module) => (modules[page] = module.default), () => {});
await start();
if (rights) await loaded;
render(html`<${App} />`, document.getElementById("app"));
