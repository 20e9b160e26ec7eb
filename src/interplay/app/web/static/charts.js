// Charts as SVG, in the colours of the page.

import { h, number, s, short } from "./dom.js";

export const width = () => (window.innerWidth < 640 ? 350 : 520);

const HELD = ["#440154", "#31688e", "#35b779", "#b8860b", "#c0392b", "#7f8c8d", "#8e44ad", "#16a085"];
const HELD_DARK = ["#c79bf2", "#6fb6e8", "#7be0a8", "#f0c36d", "#ff9d94", "#c8ccd0", "#d7a6ee", "#6fe0cb"];
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
const dark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;

// Dark blue over green to yellow: it differs in lightness throughout, so it is read without colour too.
const RAMP = [[58, 42, 110], [49, 84, 144], [35, 127, 142], [48, 168, 120], [132, 200, 76], [240, 226, 80]];

export function ramp(share) {
  const place = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const at = Math.min(Math.floor(place), RAMP.length - 2);
  const mixed = RAMP[at].map((low, channel) => Math.round(low + (place - at) * (RAMP[at + 1][channel] - low)));
  return `rgb(${mixed.join(",")})`;
}

export function ticks(low, high, wanted = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

const linear = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

function frame(words, W, H, ...children) {
  return s("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": words }, s("title", {}, words), children);
}

// Values along an axis: numbers in order, or the levels of a factor side by side.
function axis(values, from, to, cells) {
  const kinds = [...new Set(values)];
  const level = kinds.some((value) => typeof value === "string") || (kinds.length <= 2 && cells);
  if (level) {
    const step = (to - from) / kinds.length;
    const place = (value) => from + (kinds.indexOf(value) + 0.5) * step;
    return { level, kinds, place, step, ticks: kinds, words: (value) => (typeof value === "string" ? value : number(value)) };
  }
  const low = Math.min(...kinds), high = Math.max(...kinds);
  const half = cells && kinds.length > 1 ? (high - low) / (kinds.length - 1) / 2 : 0;
  const place = linear(low - half, high + half, from, to);
  return { level, kinds, place, step: (to - from) / kinds.length, low: low - half, high: high + half, ticks: ticks(low, high), words: (value) => number(value, 4) };
}

function below(scale, y, name, W, left, right) {
  const most = Math.max(3, Math.floor(Math.abs(scale.step) / 7));
  return [
    scale.ticks.map((value) => s("text", { x: scale.place(value), y: y + 16, "text-anchor": "middle", class: "soft" }, scale.level ? short(scale.words(value), most) : scale.words(value))),
    s("text", { x: (left + W - right) / 2, y: y + 36, "text-anchor": "middle" }, short(name, 44)),
  ];
}

function beside(scale, x, name, top, bottom) {
  return [
    scale.ticks.map((value) => s("text", { x: x - 6, y: scale.place(value) + 4, "text-anchor": "end", class: "soft" }, scale.level ? short(scale.words(value), 9) : scale.words(value))),
    s("text", { transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, short(name, 36)),
  ];
}

export function lines(points, target, words) {
  const W = width(), H = 170, left = 48, right = 10, top = 8, bottom = 26;
  const y = points.map((point) => point[1]).concat(target);
  const low = Math.min(...y), high = Math.max(...y), room = (high - low || 1) * 0.06;
  const across = linear(points[0][0], points.at(-1)[0], left, W - right);
  const up = linear(low - room, high + room, H - bottom, top);
  return frame(words, W, H,
    ticks(low, high, 4).map((value) => [
      s("line", { x1: left, x2: W - right, y1: up(value), y2: up(value), class: "line" }),
      s("text", { x: left - 6, y: up(value) + 4, "text-anchor": "end", class: "soft" }, number(value, 4))]),
    s("line", { x1: left, x2: W - right, y1: up(target), y2: up(target), class: "zero" }),
    s("text", { x: W - right, y: up(target) - 4, "text-anchor": "end", class: "soft" }, "wanted"),
    s("polyline", { points: points.map((point) => `${across(point[0])},${up(point[1])}`).join(" "), fill: "none", stroke: "var(--accent)", "stroke-width": 2 }),
    s("text", { x: left, y: H - 6, class: "soft" }, `${points[0][0]} draws`),
    s("text", { x: W - right, y: H - 6, "text-anchor": "end", class: "soft" }, points.at(-1)[0]));
}

export function surface(table, observed, names, response) {
  const W = width(), H = Math.round(W * 0.78), left = 76, right = 8, top = 8, bottom = 46;
  const across = axis(table.first, left, W - right, true);
  const up = axis(table.second, H - bottom, top, true);
  const low = Math.min(...table.mean), high = Math.max(...table.mean);
  const wide = Math.abs(across.step), tall = Math.abs(up.step);
  const reading = h("p", { class: "small soft" }, "Point at the field for its values.");
  const describe = (k) => {
    reading.textContent = `${names[0]} ${across.words(table.first[k])}, ${names[1]} ${up.words(table.second[k])}: ${response} ${number(table.mean[k], 4)} (90 % interval ${number(table.lower[k], 4)} to ${number(table.upper[k], 4)})`;
  };
  const cells = table.mean.map((mean, k) => s("rect", {
    x: across.place(table.first[k]) - wide / 2, y: up.place(table.second[k]) - tall / 2, width: wide + 0.6, height: tall + 0.6,
    fill: ramp((mean - low) / (high - low || 1)), onpointerenter: () => describe(k),
  }));
  const inside = (scale, value) => scale.level || (value >= scale.low && value <= scale.high);
  const spread = (scale, value, k) => scale.place(value) + (scale.level ? scale.step * 0.6 * (((k * 0.618034) % 1) - 0.5) : 0);
  const dots = observed.first.map((first, k) => inside(across, first) && inside(up, observed.second[k])
    ? s("circle", { cx: spread(across, first, k), cy: spread(up, observed.second[k], k + 7), r: 2.2, fill: "#fff", "fill-opacity": 0.55, stroke: "#000", "stroke-opacity": 0.6, "stroke-width": 0.7, "pointer-events": "none" }) : null);
  const words = `${response} over ${names[0]} and ${names[1]}: from ${number(low)} to ${number(high)}`;
  return h("div", {},
    frame(words, W, H, cells, dots, below(across, H - bottom, names[0], W, left, right), beside(up, left, names[1], top, H - bottom)),
    h("div", { class: "ramp" }, h("span", {}, number(low)), bar(ramp), h("span", {}, number(high)), h("span", {}, `mean of ${short(response, 30)}; dots are rows of the data`)),
    reading);
}

export function bar(colour, steps = 24) {
  return s("svg", { viewBox: `0 0 ${steps} 2`, preserveAspectRatio: "none", "aria-hidden": "true", height: 12 },
    Array.from({ length: steps }, (_, k) => s("rect", { x: k, y: 0, width: 1.05, height: 2, fill: colour(k / (steps - 1)) })));
}

export function slopes(table, names, response) {
  const W = width(), H = Math.round(W * 0.68), left = 76, right = 10, top = 8, bottom = 46;
  const across = axis(table.first, left, W - right, false);
  const few = across.level || across.kinds.length <= 2;
  const scale = few ? axis(across.kinds.map((value) => across.words(value)), left, W - right, false) : across;
  const low = Math.min(...table.lower), high = Math.max(...table.upper), room = (high - low || 1) * 0.04;
  const place = linear(low - room, high + room, H - bottom, top);
  const up = { place, ticks: ticks(low, high), words: (value) => number(value, 4) };
  const groups = [...new Set(table.held)].slice(0, HELD.length).map((held) => ({ held, rows: table.held.flatMap((other, k) => (other === held ? [k] : [])) }));
  const colours = dark() ? HELD_DARK : HELD;
  const drawn = groups.map(({ rows }, g) => {
    const colour = colours[g], dash = DASHES[g % DASHES.length];
    const x = (k) => (few ? scale.place(scale.words(across.words(table.first[k]))) + (g - (groups.length - 1) / 2) * 9 : scale.place(table.first[k]));
    const path = (values, order = rows) => order.map((k) => `${x(k)},${place(values[k])}`).join(" ");
    if (few) {
      return rows.map((k) => [
        s("line", { x1: x(k), x2: x(k), y1: place(table.lower[k]), y2: place(table.upper[k]), stroke: colour, "stroke-width": 2 }),
        s("circle", { cx: x(k), cy: place(table.mean[k]), r: 4, fill: colour })]).concat([
        s("polyline", { points: path(table.mean), fill: "none", stroke: colour, "stroke-opacity": 0.5, "stroke-dasharray": dash })]);
    }
    return [
      s("polygon", { points: `${path(table.lower)} ${path(table.upper, [...rows].reverse())}`, fill: colour, "fill-opacity": 0.16 }),
      s("polyline", { points: path(table.mean), fill: "none", stroke: colour, "stroke-width": 2.2, "stroke-dasharray": dash })];
  });
  const words = `${response} along ${names[0]}, with ${names[1]} held at ${groups.map((group) => group.held).join("; ")}`;
  return h("div", {},
    frame(words, W, H,
      up.ticks.map((value) => s("line", { x1: left, x2: W - right, y1: place(value), y2: place(value), class: "line" })),
      drawn, below(scale, H - bottom, names[0], W, left, right), beside(up, left, `mean of ${short(response, 24)}`, top, H - bottom)),
    h("div", { class: "legend" }, h("span", {}, `${short(names[1], 30)}:`),
      groups.map(({ held }, g) => h("span", {}, swatch(colours[g]), short(held, 36)))));
}

function swatch(colour) {
  const mark = h("span", { class: "swatch" });
  mark.style.background = colour;
  return mark;
}

export function density(made, effect, unit) {
  const W = width(), H = 170, left = 14, right = 14, top = 8, bottom = 40;
  const low = Math.min(0, made.x[0]), high = Math.max(0, made.x.at(-1));
  const across = linear(low, high, left, W - right);
  const up = linear(0, Math.max(...made.density), H - bottom, top);
  const area = (points) => points.length < 2 ? "" : [`${across(made.x[points[0]])},${up(0)}`, ...points.map((k) => `${across(made.x[k])},${up(made.density[k])}`), `${across(made.x[points.at(-1)])},${up(0)}`].join(" ");
  const all = made.x.map((_, k) => k);
  const inner = all.filter((k) => made.x[k] >= effect.lower_natural && made.x[k] <= effect.upper_natural);
  return frame(`posterior of ${made.term}: mean ${number(effect.mean_natural)}, 90 % interval ${number(effect.lower_natural)} to ${number(effect.upper_natural)}`, W, H,
    s("polygon", { points: area(all), fill: "var(--accent)", "fill-opacity": 0.18 }),
    s("polygon", { points: area(inner), fill: "var(--accent)", "fill-opacity": 0.4 }),
    s("line", { x1: across(0), x2: across(0), y1: top, y2: H - bottom, class: "zero" }),
    s("line", { x1: across(effect.mean_natural), x2: across(effect.mean_natural), y1: top, y2: H - bottom, stroke: "var(--accent)", "stroke-width": 2 }),
    s("line", { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, class: "line" }),
    ticks(low, high, 5).map((value) => s("text", { x: across(value), y: H - bottom + 16, "text-anchor": "middle", class: "soft" }, number(value))),
    s("text", { x: W / 2, y: H - 5, "text-anchor": "middle", class: "soft" }, short(unit, 60)));
}
