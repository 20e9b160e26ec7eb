// Elements and numbers. Text from data only ever becomes text: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export function show(...children) {
  const main = document.getElementById("main");
  main.replaceChildren(...children.filter(Boolean));
  return main;
}

export function announce(text) {
  const live = document.getElementById("live");
  if (live.textContent !== text) live.textContent = text;
}

export function title(text) {
  document.title = text ? `${text} · interplay` : "interplay";
}

export const notice = (kind, text, strong) =>
  h("p", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : null }, strong ? h("strong", {}, strong) : null, text);

export const busy = (text) => h("p", { class: "busy" }, text);

export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−").replace("e+", "e").replace("e-", "e−");
}

export function probability(value) {
  if (value === null || value === undefined) return "–";
  if (value < 0.0005) return "< 0.001";
  if (value > 0.9995) return "> 0.999";
  return value.toFixed(3);
}

export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export function size(bytes) {
  return bytes >= 0.95e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`;
}

export const count = (value) => value.toLocaleString("en");

// A term, which may be broken after a colon.
export const term = (text) => text.split(":").flatMap((part, k) => (k ? [":", h("wbr"), part] : [part]));

export const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
