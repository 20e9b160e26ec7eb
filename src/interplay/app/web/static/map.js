// The interaction map: leading variables against each other; colour is strength, size is certainty.

import { bar } from "./charts.js";
import { h, number, probability, s, short } from "./dom.js";

const SURE = 0.05;

// Through the page's own background, so that nothing there looks like nothing.
export function diverging(share) {
  const part = Math.round(100 * Math.min(1, Math.abs(share)));
  return `color-mix(in srgb, var(${share < 0 ? "--negative" : "--positive"}) ${part}%, var(--zero))`;
}

export function interactionMap({ names, cells }, total, choose) {
  if (names.length < 2) return h("p", {}, "There is one variable, and so no pair.");
  const longest = Math.max(...names.map((name) => Math.min(name.length, 14)));
  const margin = 12 + longest * 6.6;
  const cell = 34, side = names.length * cell;
  const W = margin + side + 6, H = side + margin * 0.75 + 10;
  const strongest = Math.max(...cells.map((entry) => Math.abs(entry.mean)), 1e-12);
  const place = new Map(names.map((name, k) => [name, k]));
  const grid = names.map((_, k) => [
    s("line", { x1: margin, x2: margin + (k + 1) * cell, y1: (k + 1) * cell, y2: (k + 1) * cell, class: "line" }),
    s("line", { x1: margin + k * cell, x2: margin + k * cell, y1: k * cell, y2: side, class: "line" })]);
  const marks = cells.map((entry) => {
    const x = margin + (place.get(entry.first) + 0.5) * cell, y = (place.get(entry.second) + 0.5) * cell;
    const certainty = Math.min(Math.max(1 - 2 * entry.lfsr, 0), 1);
    const words = `${entry.term}: ${number(entry.mean)} standard deviations, lfsr ${probability(entry.lfsr)}`;
    const square = entry.kind !== "pair";
    const open = () => choose(entry.first, entry.second);
    return s("g", square ? {} : { role: "button", tabindex: "0", "aria-label": words, "data-first": entry.first, "data-second": entry.second, onclick: open, onkeydown: (event) => {
      if (["Enter", " "].includes(event.key)) { event.preventDefault(); open(); }
    } },
    s("title", {}, words),
    s("rect", { class: "ring", x: x - cell / 2 + 1, y: y - cell / 2 + 1, width: cell - 2, height: cell - 2, rx: 5 }),
    s("circle", { cx: x, cy: y, r: 0.42 * cell * (0.14 + 0.86 * certainty), fill: diverging(entry.mean / strongest), stroke: "var(--soft)", "stroke-width": entry.lfsr <= SURE ? 1.6 : 0.5, "pointer-events": "none" }),
    entry.lfsr <= SURE ? s("text", { x, y: y + 4.5, "text-anchor": "middle", "font-weight": 700, "pointer-events": "none", class: Math.abs(entry.mean) > 0.55 * strongest ? "knock" : null }, entry.mean > 0 ? "+" : "−") : null);
  });
  const labels = names.map((name, k) => [
    s("text", { x: margin - 6, y: (k + 0.5) * cell + 4, "text-anchor": "end" }, s("title", {}, name), short(name, 14)),
    s("text", { transform: `translate(${margin + (k + 0.5) * cell + 4} ${side + 12}) rotate(-45)`, "text-anchor": "end" }, s("title", {}, name), short(name, 14))]);
  const picture = s("svg", { viewBox: `0 0 ${W} ${H}`, role: "group", "aria-label": "Interaction map" }, grid, marks, labels);
  // No larger than its text reads well at.
  picture.style.maxWidth = `${Math.round(W * 1.15)}px`;
  const of = names.length < total ? `the leading ${names.length} of ${total.toLocaleString("en")} variables` : "all variables";
  return h("div", {}, picture,
    h("div", { class: "ramp" }, h("span", {}, "−"), bar((share) => diverging(2 * share - 1)), h("span", {}, "+"), h("span", {}, "strength; size is certainty, a sign means lfsr ≤ 0.05")),
    h("p", { class: "small soft" }, `Among ${of}; squares on the diagonal. Choose a pair to see it.`));
}

export function mark(root, first, second) {
  for (const group of root.querySelectorAll("g[data-first]")) {
    const pair = [group.dataset.first, group.dataset.second];
    group.classList.toggle("chosen", pair.includes(first) && pair.includes(second));
  }
}
