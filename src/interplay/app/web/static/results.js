// The results: a verdict, the effects, the map, any pair, any term, and files to take away.

import { api } from "./api.js";
import { announce, busy, count, duration, h, notice, number, short, show } from "./dom.js";
import { interactionMap, mark } from "./map.js";
import { pairView, posteriorView } from "./pair.js";
import { effectTable } from "./table.js";

const VERDICTS = { trust: ["good", "You can trust these results."], "run longer": ["warn", "Run longer before you rely on this."], "do not report": ["bad", "Do not report these results."] };

export async function resultsView(job, { again, rest, current }) {
  const { summary, effects, map } = await api.results(job.id);
  if (!current()) return undefined;
  const detail = h("div", { "aria-live": "polite" });
  const heading = h("h2", { id: "detail", tabindex: "-1" }, "A closer look");
  const panel = h("section", { class: "card", "aria-labelledby": "detail" }, heading, detail);
  const picture = interactionMap(map, summary.variables, choosePair);
  const answer = h("div", { "aria-live": "polite" });
  let turn = 0;

  const address = (first, second) => `#/job/${job.id}/pair/${encodeURIComponent(first)}/${encodeURIComponent(second)}`;

  function choosePair(first, second) {
    location.hash = address(first, second);
  }

  function chooseRow(row) {
    const [first, second] = row.variables;
    if (row.kind === "pair" && first !== second) choosePair(first, second);
    else look(row.term, async () => posteriorView(await api.posterior(job.id, row.parts), row, summary.response));
  }

  async function look(words, make, move = true) {
    const mine = ++turn;
    heading.textContent = words;
    detail.replaceChildren(busy("Working it out …"));
    if (move) {
      panel.scrollIntoView({ behavior: "auto", block: "start" });
      heading.focus({ preventScroll: true });
    }
    let made;
    try {
      made = await make();
    } catch (error) {
      made = notice("bad", error.message);
    }
    if (mine === turn) detail.replaceChildren(made);
  }

  function openPair([place, first, second], move = true) {
    if (place !== "pair" || second === undefined) return;
    mark(picture, first, second);
    look(`${first} and ${second}`, async () => pairView(await api.pair(job.id, first, second), () => choosePair(second, first)), move);
  }

  function moved(event) {
    event.preventDefault();
    const rest = location.hash.split("/").slice(3);
    openPair(rest.map(decodeURIComponent));
  }

  const term = h("input", { type: "text", id: "term", list: "names", autocomplete: "off", placeholder: `${summary.names[0]}:${summary.names.at(-1)}`, required: true });
  async function ask(event) {
    event.preventDefault();
    answer.replaceChildren(busy("Working it out …"));
    try {
      const { rows } = await api.effects(job.id, term.value);
      answer.replaceChildren(effectTable(rows, { choose: chooseRow, label: "What was asked for" }));
      announce(`${rows.length} ${rows.length === 1 ? "effect" : "effects"} found.`);
    } catch (error) {
      answer.replaceChildren(notice("bad", error.message));
    }
  }

  async function copy() {
    location.hash = `#/job/${(await api.copy(job.id)).id}`;
  }

  async function resume() {
    await api.resume(job.id);
    again();
  }

  const [kind, verdict] = VERDICTS[summary.verdict];
  const chosen = effects.filter((row) => row.selected);
  const pairs = chosen.filter((row) => row.kind === "pair");
  const share = ([low, middle, high]) => [`${percent(middle)}`, `90 % interval ${percent(low)} to ${percent(high)}`];
  const found = pairs.length
    ? `${pairs.length === 1 ? "One interaction is" : `${pairs.length} interactions are`} selected: ${pairs.slice(0, 6).map((row) => row.term).join(", ")}${pairs.length > 6 ? " …" : "."}`
    : "The data support no interaction: of none is the sign known with a probability of 95 %.";

  show(
    h("h1", { tabindex: "-1" }, `What explains ${summary.response}`),
    h("p", { class: "soft" }, `${job.title}: ${count(summary.rows)} rows, ${count(summary.variables)} variables, ${count(summary.pairs)} pairs searched.`),
    h("div", { class: `notice ${kind}` }, h("strong", {}, verdict), summary.words),
    job.message ? notice("", job.message) : null,
    h("p", {}, h("strong", {}, found)),
    h("div", { class: "figures" },
      figure("Effects selected", `${chosen.length}`, `${pairs.length} of them pairs`),
      figure("Variance explained", ...share(summary.explained)),
      figure("By interactions", ...share(summary.interactions)),
      figure("R-hat, effective draws", `${number(summary.r_hat, 4)}, ${Math.round(summary.ess ?? 0)}`, `${summary.chains} chains of ${summary.draws} in ${duration(summary.seconds)}`)),
    h("div", { class: "row" },
      download("Report", "report.html"), download("Table (CSV)", "effects.csv"), download("Fit (netCDF)", "fit.nc"),
      h("button", { type: "button", onclick: copy }, "Fit again with other choices"),
      summary.ended === "interrupted" && job.resumable ? h("button", { type: "button", onclick: resume }, "Go on sampling") : null),
    h("div", { class: "grid two" },
      h("section", { class: "card", "aria-labelledby": "effects" }, h("h2", { id: "effects" }, "Effects, the surest first"), effectTable(effects, { choose: chooseRow, label: "Effects" })),
      h("section", { class: "card", "aria-labelledby": "map" }, h("h2", { id: "map" }, "Interaction map"), picture)),
    panel,
    h("section", { class: "card", "aria-labelledby": "ask" }, h("h2", { id: "ask" }, "Ask for any effect"),
      h("form", { class: "row", onsubmit: ask }, h("label", { for: "term", class: "unseen" }, "Effect"), term, h("button", { type: "submit" }, "Ask"),
        h("datalist", { id: "names" }, summary.names.slice(0, 1000).map((name) => h("option", { value: name })))),
      h("p", { class: "small soft" }, "Write a for a main effect, a:b for an interaction, a^2 for a quadratic effect, a[level] for a level of a category."),
      answer),
  );
  function download(words, name) {
    return h("a", { class: "button", href: api.file(job.id, name), download: "" }, words);
  }
  window.addEventListener("pair", moved);
  const surest = effects.find((row) => row.kind === "pair" && row.variables.length === 2);
  if (rest.length) openPair(rest);
  else if (surest) openPair(["pair", ...surest.variables], false);
  else detail.replaceChildren(h("p", { class: "soft" }, "Choose an effect above."));
  return () => window.removeEventListener("pair", moved);
}

const figure = (what, value, note) =>
  h("div", {}, h("div", { class: "what" }, what), h("div", { class: "value" }, value), h("div", { class: "note" }, short(note, 60)));

function percent(share) {
  if (share === null) return "–";
  const text = (100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0);
  return `${text.replace(/^-0\.0$/, "0.0").replace("-", "−")} %`;
}
