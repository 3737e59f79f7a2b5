// A list of messages of any length: heights are guessed from an outline, measured when drawn, kept in a Fenwick tree.
// A place is a message and an offset, never a pixel: what is looked at stays where it is.
import { dateOf, num } from "./ui.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";

export class Fenwick {
  constructor(values) {
    this.values = Float64Array.from(values);
    this.tree = new Float64Array(values.length + 1);
    for (let i = 1; i <= values.length; i++) {
      this.tree[i] += this.values[i - 1];
      const up = i + (i & -i);
      if (up <= values.length) this.tree[up] += this.tree[i];
    }
  }
  get length() {
    return this.values.length;
  }
  sum(count = this.length) {
    let total = 0;
    for (let i = count; i > 0; i -= i & -i) total += this.tree[i];
    return total;
  }
  set(at, value) {
    const change = value - this.values[at];
    if (!change) return;
    this.values[at] = value;
    for (let i = at + 1; i <= this.length; i += i & -i) this.tree[i] += change;
  }
  /** The place that a sum falls into: the last index whose values before it add up to at most `sum`. */
  find(sum) {
    let at = 0;
    for (let step = 1 << Math.floor(Math.log2(this.length || 1)); step; step >>= 1)
      if (at + step < this.length && this.tree[at + step] <= sum) {
        at += step;
        sum -= this.tree[at];
      }
    return at;
  }
}

// Browsers limit how tall an element may be.
const TALLEST = 15e6;
const SPARE = 400;
const PAGE = 50;
const KEPT = 24;

/** Messages by number, loaded in pages; those that were not used for long are dropped. */
export class Store {
  constructor(load, drawn) {
    this.load = load;
    this.drawn = drawn;
    this.pages = new Map();
    this.first = new Map();
  }
  /** Keep messages that came before the pages. */
  begin(start, messages) {
    messages.forEach((one, at) => this.first.set(start + at, one));
  }
  get(number) {
    const page = this.pages.get(Math.floor(number / PAGE));
    return (Array.isArray(page) ? page[number % PAGE] : this.first.get(number)) ?? null;
  }
  want(from, until) {
    for (let page = Math.floor(from / PAGE); page <= Math.floor(until / PAGE); page++) {
      const there = this.pages.get(page);
      this.pages.delete(page);
      this.pages.set(page, there ?? "coming");
      if (there) continue;
      this.load(page * PAGE, PAGE).then(
        (messages) => (this.pages.set(page, messages), this.drawn()),
        () => this.pages.delete(page),
      );
    }
    for (const [page, there] of this.pages) {
      if (this.pages.size <= KEPT) break;
      if (Array.isArray(there)) this.pages.delete(page);
    }
  }
}

/**
 * @param heights guesses, one for each message; @param row draws one; @param place {index, offset} to show at the top;
 * @param moved is called with the first and last visible message.
 */
export function VirtualList({ heights, store, row, place, moved, label }) {
  const box = useRef();
  const block = useRef();
  const [, draw] = useState(0);
  const self = useRef({ anchor: { index: 0, offset: 0 }, top: 0 }).current;
  if (self.heights !== heights) {
    self.heights = heights;
    self.tree = new Fenwick(heights);
  }
  const { tree } = self;
  const again = () => draw((n) => n + 1);
  const total = tree.sum();
  const tall = Math.min(total, TALLEST);
  const view = box.current?.clientHeight ?? 600;
  const spot = Math.max(0, Math.min(total - view, tree.sum(self.anchor.index) + self.anchor.offset));
  const scale = total > tall ? (total - view) / (tall - view) : 1;
  const first = tree.find(Math.max(0, spot - SPARE));
  const last = Math.min(tree.length - 1, tree.find(spot + view + SPARE));

  const settle = (position) => {
    const index = tree.find(position);
    self.anchor = { index, offset: position - tree.sum(index) };
  };
  useEffect(() => {
    if (!place) return;
    self.anchor = { index: place.index, offset: place.offset ?? 0 };
    again();
  }, [place]);
  useLayoutEffect(() => {
    // Measured heights replace guesses; the anchor stays, so the bar may have to move instead.
    let isNew = false;
    for (const child of block.current.children) {
      const at = Number(child.dataset.number);
      const high = child.offsetHeight;
      if (Math.abs(high - tree.values[at]) > 0.5) {
        tree.set(at, high);
        isNew = true;
      }
    }
    const now = Math.max(0, Math.min(tree.sum() - view, tree.sum(self.anchor.index) + self.anchor.offset));
    const top = Math.round(now / scale);
    if (Math.abs(top - box.current.scrollTop) >= 1) {
      box.current.scrollTop = top;
      self.top = box.current.scrollTop;
    }
    if (isNew) again();
    store.want(first, last);
    const seen = tree.find(now);
    moved?.(seen, Math.min(tree.length - 1, tree.find(now + view - 1)));
  });
  useEffect(() => {
    const watch = new ResizeObserver(again);
    watch.observe(box.current);
    watch.observe(block.current);
    return () => watch.disconnect();
  }, []);
  const onScroll = () => {
    const { scrollTop } = box.current;
    const change = scrollTop - self.top;
    if (Math.abs(change) < 1) return;
    self.top = scrollTop;
    // Where the bar is scaled, a small step is a step of the text, not of the bar.
    settle(Math.max(0, Math.min(total - view, scale > 1 && Math.abs(change) < view ? spot + change : scrollTop * scale)));
    again();
  };
  const rows = [];
  for (let at = first; at <= last && rows.length < 60; at++) rows.push(row(at, store.get(at), tree.values[at]));
  return html`<div class="reader" ref=${box} onScroll=${onScroll} tabindex="0" role="region" aria-label=${label}>
    <div class="all" style=${{ height: `${tall}px` }}>
      <div ref=${block} class="block" style=${{ top: `${Math.round(spot / scale) + tree.sum(first) - spot}px` }}>${rows}</div>
    </div>
  </div>`;
}

const MOST_DAYS = 60;
const COLOURS = { user: "--accent", assistant: "--map-assistant", tool: "--map-tool", system: "--map-system" };

/** The whole conversation at a glance: role by colour, days, hits, your place. Click, drag or use the arrow keys. */
export function Overview({ roles, days, hits, from, until, jump }) {
  const canvas = useRef();
  const count = roles.length;
  const draw = () => {
    const { current: it } = canvas;
    const high = it.clientHeight * devicePixelRatio;
    const wide = it.clientWidth * devicePixelRatio;
    if (!high) return;
    it.height = high;
    it.width = wide;
    const paint = it.getContext("2d");
    const colour = (name) => {
      it.style.color = `var(${name})`;
      return getComputedStyle(it).color;
    };
    const colours = Object.fromEntries(Object.entries(COLOURS).map(([role, name]) => [role, colour(name)]));
    const steps = Math.min(count, Math.floor(high / 2));
    for (let step = 0; step < steps; step++) {
      const seen = {};
      const begin = Math.floor((step * count) / steps);
      const end = Math.max(begin + 1, Math.floor(((step + 1) * count) / steps));
      for (let at = begin; at < end; at++) seen[roles[at]] = (seen[roles[at]] ?? 0) + 1;
      let x = 0;
      for (const role of Object.keys(COLOURS)) {
        const part = ((seen[role] ?? 0) / (end - begin)) * wide * 0.7;
        paint.fillStyle = colours[role];
        paint.fillRect(x, (step * high) / steps, part, Math.max(1, high / steps - (steps < high / 4 ? 1 : 0)));
        x += part;
      }
    }
    paint.fillStyle = colour("--strong-line");
    for (const day of days.length <= MOST_DAYS ? days.slice(1) : [])
      paint.fillRect(0, Math.round((day.position / count) * high), wide, 1);
    paint.fillStyle = colour("--warn");
    for (const at of hits) paint.fillRect(wide * 0.75, (at / count) * high - 1, wide * 0.25, 3);
  };
  useEffect(draw, [roles, hits]);
  useEffect(() => {
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current);
    const theme = new MutationObserver(draw);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => (watch.disconnect(), theme.disconnect());
  }, [roles, hits]);
  const point = (event) => {
    const area = event.currentTarget.getBoundingClientRect();
    const at = Math.max(0, Math.min(count - 1, Math.floor(((event.clientY - area.top) / area.height) * count)));
    const day = days.findLast((one) => one.position <= at);
    event.currentTarget.title = `${day ? `${dateOf(Date.parse(day.date) / 1000)}, ` : ""}message ${num(at + 1)}`;
    if (event.buttons) jump(at);
  };
  const onKey = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 50, PageUp: -50, Home: -count, End: count }[event.key];
    if (!step) return;
    event.preventDefault();
    jump(Math.max(0, Math.min(count - 1, from + step)));
  };
  return html`<div class="map" role="slider" tabindex="0" aria-orientation="vertical"
    aria-label="position in the conversation" aria-valuemin="1" aria-valuemax=${count} aria-valuenow=${from + 1}
    aria-valuetext="message ${from + 1} of ${count}" onKeyDown=${onKey} onPointerMove=${point}
    onPointerDown=${(e) => (e.currentTarget.setPointerCapture(e.pointerId), point(e))}>
    <canvas ref=${canvas} aria-hidden="true"></canvas>
    <i style=${{ top: `${(100 * from) / count}%`, height: `max(4px, ${(100 * (until - from + 1)) / count}%)` }}></i>
  </div>`;
}
