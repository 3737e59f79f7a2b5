// The building blocks of the pages. Text of a memory is only ever a text node.
import { to } from "./core.js";
import { html, useState } from "./vendor/preact.js";

const number = new Intl.NumberFormat("en");
export const num = (value) => (value == null ? "–" : number.format(value));
export const plural = (count, one, many = `${one}s`) => `${num(count)} ${count === 1 ? one : many}`;
export function bytes(value) {
  if (value == null) return "–";
  const step = Math.min(3, Math.max(0, Math.floor(Math.log10(value || 1) / 3)));
  const shown = value / 1000 ** step;
  return `${step && shown < 10 ? shown.toFixed(1) : Math.round(shown)} ${["B", "kB", "MB", "GB"][step]}`;
}

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
export const dateOf = (at) => day.format(at * 1000);
export function when(at) {
  const then = new Date(at * 1000);
  const now = new Date();
  if (then.toDateString() === now.toDateString()) return clock.format(then);
  return then.getFullYear() === now.getFullYear() ? `${short.format(then)}, ${clock.format(then)}` : day.format(then);
}
export function time(at, only = when) {
  if (at == null) return "–";
  const then = new Date(at * 1000);
  return html`<time datetime=${then.toISOString()} title=${then.toLocaleString()}>${only(at)}</time>`;
}

const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb\ufffd]/gu;
const EMOJI = /\p{Extended_Pictographic}\ufe0f?$/u;

export function visible(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    const code = found[0].codePointAt(0);
    // Part of an emoji, as people write them.
    if ((code === 0xfe0f || code === 0x200d) && EMOJI.test(text.slice(Math.max(0, found.index - 4), found.index))) continue;
    if (code === 0x0d && text[found.index + 1] === "\n") continue;
    parts.push(text.slice(from, found.index));
    parts.push(html`<span class="mark" title="a character that is not visible">
      ${`U+${code.toString(16).toUpperCase().padStart(4, "0")}`}</span>`);
    from = found.index + found[0].length;
    if (parts.length > 2000) break;
  }
  parts.push(text.slice(from));
  return parts;
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
// Without the ending of a plural, so that "mails" marks "mail" as well.
const stem = (word) => escape(word.replace(/(?<=\p{L}{3})s$/u, ""));
/** A pattern for words and what they become with an ending; null for none. */
export const patternOf = (words) =>
  words.length ? new RegExp(`((?<![\\p{L}\\p{N}])(?:${words.map(stem).join("|")})[\\p{L}\\p{N}]*)`, "giu") : null;
/** Text with what fits a pattern marked. */
export const marked = (text, pattern) =>
  pattern
    ? text.split(pattern).map((part, at) => (at % 2 ? html`<mark>${visible(part)}</mark>` : visible(part)))
    : visible(text);

const FENCE = /^(```|~~~)[^\n]*\n([\s\S]*?)(?:^\1[ \t]*$|$(?![\s\S]))/gm;
const MOST = 4000;

/** Stored text as it was written: code in a fixed font, no links, no images. Long text is cut until asked for. */
export function Stored({ text, most = MOST, isCode = false, pattern = null }) {
  const [isWhole, open] = useState(false);
  const whole = String(text ?? "");
  const shown = isWhole ? whole.slice(0, 300000) : whole.slice(0, most);
  const parts = [];
  let from = 0;
  if (!isCode)
    for (const found of shown.matchAll(FENCE)) {
      const before = shown.slice(from, found.index);
      parts.push(marked(before, pattern), html`<pre tabindex="0">${marked(found[0], pattern)}</pre>`);
      from = found.index + found[0].length;
    }
  parts.push(marked(shown.slice(from), pattern));
  return html`<div class=${isCode ? "stored code" : "stored"} dir="auto">
    ${parts}${shown.length < whole.length && html`<button class="plain" onClick=${() => open(true)}>…
      ${isWhole ? " cut here" : ` show all ${num(whole.length)} characters`}</button>`}
  </div>`;
}

/** Stored text in one line. */
export function line(text, most = 100, pattern = null) {
  const whole = String(text ?? "");
  const shown = whole.replace(/\s+/g, " ").slice(0, most);
  return html`<bdi>${marked(shown, pattern)}${whole.length > most ? "…" : ""}</bdi>`;
}

/** @param commands that fill the page, one per line: there is nothing to filter yet. */
export const Empty = ({ title, commands = "", children }) => html`<div class="empty ${commands && "blank"}"><h2>${title}</h2><p>${children}</p>
  ${commands && html`<pre tabindex="0">${commands}</pre>`}</div>`;
/** Shows an error, without the advice after "not found": it is for models, which have other tools than this page. */
export const Problem = ({ error: { code, message } }) => html`<p class="problem"
  role="alert">${code === "not_found" ? /^.*?\.(?=\s|$)|.*/s.exec(message)[0] : message}</p>`;

export function Loaded({ of: found, children }) {
  if (found.error) return html`<${Problem} error=${found.error} />`;
  if (!found.data) return html`<div class="waiting" aria-busy="true"><span class="unseen">Loading</span></div>`;
  return children(found.data);
}

export const Meter = ({ label, used, limit, unit = "", show = num, text = `${show(used)} of ${show(limit)} ${unit}` }) => html`<div class="meter">
  <span class="row"><span>${label}</span><span class="number">${text}</span></span>
  <span class="bar" role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax=${limit}
    aria-valuenow=${used}><i class=${used > limit ? "over" : ""}
    style=${{ width: `${Math.min(100, (100 * used) / (limit || 1))}%` }}></i></span>
</div>`;

export const Panel = ({ id, title, more, class: name = "", children }) => html`<section class="panel ${name}"
  aria-labelledby=${id}><header><h2 id=${id}>${title}</h2>${more}</header>${children}</section>`;

export const focused = (one) => one?.focus();

export function Tabs({ label, choices, value, pick }) {
  return html`<div class="tabs" role="group" aria-label=${label}>
    ${choices.map(([key, name]) => html`<button key=${key} type="button" aria-pressed=${key === value}
      onClick=${() => pick(key)}>${name}</button>`)}
  </div>`;
}

export const SessionLink = ({ id, title, at = "" }) => html`<a
  href=${to("sessions", id + (at !== "" ? `@${at}` : ""))}>${line(title || id)}</a>`;
