// The session, calls of operations, addresses. Everything the page knows comes from POST /v1/NAME.
import { useEffect, useLayoutEffect, useState } from "./vendor/preact.js";

export class Failure extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The rights of this tab: {space, scope, operations, version}; null without a valid token. */
export let rights = null;
let token = null;
export const state = { isDown: false, signIn: "", toast: null, undo: null, dialog: null };

let draw = () => {};
const notify = () => draw();

/** Draw a dialog over the page; null closes it. */
export function show(dialog) {
  state.dialog = dialog;
  notify();
}

/** Draw the frame again when `state` or the rights change; from its first drawing on, for a page may open a dialog. */
export function useShared() {
  const [, count] = useState(0);
  draw = () => count((n) => n + 1);
}

export async function send(path, init = {}) {
  let answer;
  try {
    const headers = { ...(init.body && { "content-type": "application/json" }), ...init.headers };
    if (token) headers.authorization = `Bearer ${token}`;
    answer = await fetch(path, { ...init, headers, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    lose();
    throw new Failure(0, "unreachable", "The server does not answer.");
  }
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  const { code = "internal", message = answer.statusText } = body.error ?? {};
  if (answer.status === 401 && path.startsWith("/v1/")) forget("The session has ended.");
  throw new Failure(answer.status, code, message);
}

export function lose() {
  if (state.isDown) return;
  state.isDown = true;
  notify();
  const retry = async () => {
    try {
      if ((await fetch("/health", { cache: "no-store" })).ok) {
        state.isDown = false;
        notify();
        window.dispatchEvent(new Event("mnemos:again"));
        return;
      }
    } catch {
      // Still down.
    }
    setTimeout(retry, 2000);
  };
  setTimeout(retry, 1000);
}

/** `switches` of the address: preview, log (the answer names its log_entries), person, text. */
export async function call(name, args = {}, { signal, ...switches } = {}) {
  const query = new URLSearchParams(Object.entries(switches).filter(([, isOn]) => isOn));
  const init = { method: "POST", body: JSON.stringify(args), signal };
  return (await send(`/v1/${name}${query.size ? `?${query}` : ""}`, init)).json();
}

/** True if the token allows an operation; what it does not allow is not drawn. */
export const can = (name) => !!rights?.operations.includes(name);
const LEVELS = ["read", "write", "admin", "local"];
export const atLeast = (scope) => LEVELS.indexOf(rights?.scope) >= LEVELS.indexOf(scope);
export const mayWrite = (name) => can(name) && atLeast("write");

function keep({ token: given = token, ...answer }) {
  token = given;
  rights = answer;
  state.signIn = "";
  sessionStorage.setItem("token", token);
  sessionStorage.setItem("rights", JSON.stringify(rights));
  notify();
}

export function forget(why) {
  token = rights = state.dialog = null;
  sessionStorage.clear();
  state.signIn = why;
  notify();
}

const ask = (body) => send("/page/session", body ? { method: "POST", body: JSON.stringify(body) } : {});

const CODE = /^#t=([\w-]+)$/;
// A link that is pasted into this tab changes only the fragment: nothing is loaded again.
window.addEventListener("hashchange", () => CODE.test(location.hash) && start());

/** Take the code out of the address, trade it for a token, or use the token of this tab. */
export async function start() {
  const code = CODE.exec(location.hash)?.[1];
  if (code) history.replaceState(null, "", "/#/");
  token = code ? null : sessionStorage.getItem("token");
  // A tab that is loaded again draws with the rights it had, while they are asked for again.
  rights = token && JSON.parse(sessionStorage.getItem("rights"));
  if (!code && !token) return forget("");
  const asked = ask(code && { code }).then(async (answer) => keep(await answer.json()));
  const checked = asked.catch((error) => {
    if (error.status === 401) forget("The session has ended.");
    else if (!rights) forget(error.message);
  });
  if (!rights) await checked;
}

export async function enter(given) {
  token = given.trim();
  try {
    keep({ ...(await (await ask()).json()), token });
  } catch (error) {
    forget(error.status === 401 ? "That token is not valid." : error.message);
  }
}

export async function switchSpace(space) {
  const answer = await (await ask({ space })).json();
  // A change of the other space can't be undone from here.
  state.undo = state.toast = null;
  keep(answer);
  location.hash = "#/";
}

/** Address of a state of the page. The only way to make an href: it always begins with #/. */
export function to(page, rest = "", params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, v]) => v !== "" && v != null && v !== false));
  const path = String(rest).split("/").map(encodeURIComponent).join("/");
  return `#/${page}${rest === "" ? "" : `/${path}`}${query.size ? `?${query}` : ""}`;
}

export function readAddress() {
  const [, path, query = ""] = /^#?\/?([^?]*)\??(.*)/.exec(location.hash);
  const [page, ...rest] = path.split("/");
  const decode = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return { page: page || "overview", rest: rest.map(decode).join("/"), params: Object.fromEntries(new URLSearchParams(query)) };
}

export const go = (...where) => (location.hash = to(...where));
export function revise(...where) {
  if (to(...where) === location.hash) return;
  history.replaceState(null, "", to(...where));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Call an operation while a component is shown: {data, error}. Old data stays until the new is there. */
export function useCall(name, args = {}, { skip, text } = {}) {
  const key = skip ? null : name + JSON.stringify(args);
  const [found, set] = useState({});
  const [turn, again] = useState(0);
  // Not after the paint: the answer would come a frame later.
  useLayoutEffect(() => {
    if (key == null) return void set({});
    const stop = new AbortController();
    const { signal } = stop;
    call(name, args, { signal, text: !text && "false" }).then((data) => signal.aborted || set({ data }), (error) => signal.aborted || set({ error }));
    return () => stop.abort();
  }, [key, turn]);
  useEffect(() => {
    const stop = new AbortController();
    for (const event of ["mnemos:again", "mnemos:changed"]) window.addEventListener(event, () => again((n) => n + 1), stop);
    return () => stop.abort();
  }, []);
  return found;
}

let timer;
/** @param undo the log entries that Undo reverts, oldest first. */
export function toast(text, { undo = [], isError = false } = {}) {
  clearTimeout(timer);
  state.toast = { text, isError, canUndo: undo.length > 0 };
  if (undo.length) state.undo = undo;
  notify();
  timer = setTimeout(() => {
    state.toast = null;
    notify();
  }, isError ? 12000 : 8000);
}

export const changed = () => window.dispatchEvent(new Event("mnemos:changed"));

/** Change something and say so, with an offer to undo exactly that where it is possible; null if it failed. */
export async function act(name, args, { said } = {}) {
  try {
    const answer = await call(name, args, { log: true });
    if (answer.disabled) throw new Failure(409, "disabled", answer.text);
    const undo = name !== "undo" && can("undo") ? answer.log_entries : [];
    toast(said?.(answer) ?? (answer.text ?? "").split("\n", 1)[0].slice(0, 300), { undo });
    changed();
    return answer;
  } catch (error) {
    toast(error.message, { isError: true });
    return null;
  }
}

/** Undo the last change that was made here, and keep what others have changed since. */
export async function undoLast() {
  const entries = [...(state.undo ?? [])].reverse();
  state.undo = null;
  const done = [];
  for (const entry of entries) done.push(await act("undo", { entry }));
  if (done.length > 1 && done.every(Boolean)) toast(`Undid ${done.length} changes.`);
}
