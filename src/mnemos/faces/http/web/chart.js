// Bars as SVG, coloured by the style sheet. A screen reader gets the sum; a table would have 180 rows.
import { html, useState } from "./vendor/preact.js";
import { num } from "./ui.js";

const HEIGHT = 96;

/** @param rows [{label, parts: {name: value}}], oldest first; `pick` is called with the first and last row of a drag. */
export function Bars({ rows, names, label, pick }) {
  const [over, hover] = useState(null);
  const [from, drag] = useState(null);
  const most = Math.max(1, ...rows.map((row) => names.reduce((sum, name) => sum + (row.parts[name] ?? 0), 0)));
  const total = rows.reduce((sum, row) => sum + names.reduce((inner, name) => inner + (row.parts[name] ?? 0), 0), 0);
  const wide = 1000 / rows.length;
  const place = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(rows.length - 1, Math.floor(((event.clientX - box.left) / box.width) * rows.length)));
  };
  const range = from == null || over == null ? null : [Math.min(from, over), Math.max(from, over)];
  const shown = over == null ? null : rows[over];
  return html`<figure class="chart">
    <svg viewBox="0 0 1000 ${HEIGHT}" preserveAspectRatio="none" role="img"
      aria-label="${label}: ${num(total)} in all, at most ${num(most)}"
      onPointerMove=${(e) => hover(place(e))} onPointerLeave=${() => (hover(null), drag(null))}
      onPointerDown=${(e) => pick && drag(place(e))}
      onPointerUp=${() => (range && pick(rows[range[0]], rows[range[1]]), drag(null))}>
      ${range && html`<rect class="range" x=${range[0] * wide} y="0" width=${(range[1] - range[0] + 1) * wide}
        height=${HEIGHT} />`}
      ${rows.map((row, at) => {
        let y = HEIGHT;
        return names.map((name, which) => {
          const tall = ((row.parts[name] ?? 0) / most) * (HEIGHT - 4);
          y -= tall;
          return tall > 0 && html`<rect key=${at + name} class="tone${which % 4} ${at === over ? "over" : ""}"
            x=${at * wide + wide * 0.1} width=${wide * 0.8} y=${y} height=${tall} />`;
        });
      })}
    </svg>
    <figcaption class="row muted"><span>${rows[0]?.label}</span>
      <span aria-hidden="true">
        ${shown ? `${shown.label}: ${names.filter((n) => shown.parts[n]).map((n) => `${names.length > 1 ? `${n} ` : ""}${num(shown.parts[n])}`).join(", ") || 0}` : ""}
        </span>
      <span>${rows.at(-1)?.label}</span></figcaption>
  </figure>`;
}
