// A table of effects: sorted by any column, in either unit, with each interval drawn.

import { count, h, number, probability, s, term } from "./dom.js";

const FIRST = 60;

const COLUMNS = [
  { key: "term", words: "Effect", text: true },
  { key: "mean", words: "Mean" },
  { key: "lower", words: "90 % interval", rank: "wide" },
  { key: "picture", words: "", rank: "third" },
  { key: "prob_positive", words: "P(> 0)", rank: "fourth", help: "Probability that the effect is positive" },
  { key: "lfsr", words: "lfsr", help: "Local false sign rate: the chance that the sign is wrong" },
];

export function effectTable(rows, { choose, label }) {
  const state = { key: "lfsr", down: false, natural: true, most: FIRST, kind: "", text: "", selected: false };
  const body = h("tbody");
  const more = h("div", { class: "row" });
  const heads = COLUMNS.map((column) => h("th", { scope: "col", class: `${column.text ? "" : "number"} ${column.rank ?? ""}` },
    column.words ? h("button", { type: "button", title: column.help, onclick: () => sort(column) }, column.words) : h("span", { class: "unseen" }, "Interval, drawn")));

  const value = (row, key) => row[state.natural && ["mean", "lower", "upper"].includes(key) ? `${key}_natural` : key];

  function sort(column) {
    state.down = state.key === column.key ? !state.down : !column.text && column.key !== "lfsr";
    state.key = column.key;
    draw();
  }

  function draw() {
    const kept = rows.filter((row) => (!state.kind || row.kind === state.kind) && (!state.selected || row.selected) && row.term.toLowerCase().includes(state.text));
    if (state.key !== "lfsr" || state.down) {
      const sign = state.down ? -1 : 1;
      kept.sort((a, b) => {
        const [one, other] = [value(a, state.key), value(b, state.key)];
        return sign * (typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : (one ?? Infinity) - (other ?? Infinity));
      });
    }
    COLUMNS.forEach((column, k) => {
      if (column.key === state.key) heads[k].setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else heads[k].removeAttribute("aria-sort");
    });
    const widest = Math.max(...kept.flatMap((row) => [Math.abs(row.lower), Math.abs(row.upper)]), 1e-12);
    body.replaceChildren(...kept.slice(0, state.most).map((row) => line(row, widest)));
    const hidden = kept.length - state.most;
    more.replaceChildren(h("span", { class: "soft small" }, kept.length ? `${count(Math.min(kept.length, state.most))} of ${count(rows.length)} effects` : "No effect is like that."),
      hidden > 0 ? h("button", { type: "button", onclick: () => { state.most = hidden > 2000 ? state.most + 2000 : Infinity; draw(); } }, `Show ${count(Math.min(hidden, 2000))} more`) : "");
  }

  const range = (row) => `${number(value(row, "lower"))} to ${number(value(row, "upper"))}`;

  function line(row, widest) {
    const name = row.parts.length ? h("button", { type: "button", class: "link", onclick: () => choose(row) }, term(row.term)) : term(row.term);
    return h("tr", { class: row.selected ? "selected" : null },
      h("td", { class: "name" }, name, row.selected ? h("span", { class: "tick", title: "Selected: lfsr is at most 0.05" }, "\u00a0✓") : null),
      h("td", { class: "number" }, number(value(row, "mean")), h("div", { class: "narrow soft small" }, range(row))),
      h("td", { class: "number wide" }, range(row)),
      h("td", { class: "third" }, interval(row, widest)),
      h("td", { class: "number fourth" }, probability(row.prob_positive)),
      h("td", { class: "number" }, probability(row.lfsr)));
  }

  const kinds = [...new Set(rows.map((row) => row.kind))];
  const tools = h("div", { class: "row" },
    kinds.length > 1 ? h("select", { "aria-label": "Kind of effect", onchange: (event) => { state.kind = event.target.value; draw(); } },
      h("option", { value: "" }, "All kinds"), kinds.map((kind) => h("option", { value: kind }, { main: "Main effects", pair: "Pairs", quadratic: "Quadratic" }[kind] ?? kind))) : null,
    rows.length > 8 ? h("input", { type: "search", placeholder: "Find", "aria-label": "Find effects by name", size: 12, oninput: (event) => { state.text = event.target.value.toLowerCase(); draw(); } }) : null,
    h("select", { "aria-label": "Units", onchange: (event) => { state.natural = event.target.value === "natural"; draw(); } },
      h("option", { value: "natural" }, "Units of the data"), h("option", { value: "standardised" }, "Standard deviations")),
    rows.some((row) => row.selected) && rows.length > 8 ? h("label", { class: "check" }, h("input", { type: "checkbox", onchange: (event) => { state.selected = event.target.checked; draw(); } }), "Selected only") : null);
  draw();
  return h("div", {}, tools,
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, heads)), body)), more);
}

// On the standardised scale, where effects can be compared.
function interval(row, widest) {
  const x = (value) => 50 + (48 * value) / widest;
  const colour = row.selected ? (row.mean > 0 ? "var(--positive)" : "var(--negative)") : "var(--soft)";
  const picture = s("svg", { viewBox: "0 0 100 14", "aria-hidden": "true" },
    s("line", { x1: 50, x2: 50, y1: 0, y2: 14, class: "line" }),
    s("line", { x1: x(row.lower), x2: x(row.upper), y1: 7, y2: 7, stroke: colour, "stroke-width": 2 }),
    s("circle", { cx: x(row.mean), cy: 7, r: 3.2, fill: colour }));
  picture.style.width = "7rem";
  return picture;
}
