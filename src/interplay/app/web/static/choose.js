// Choose: what is to be explained, by what, and what that will cost.

import { api } from "./api.js";
import { busy, count, duration, h, notice, number, show, size } from "./dom.js";

const MOST_ROWS = 300;
const KINDS = { numeric: "number", binary: "two values", categorical: "categories", unusable: "problem" };

export async function chooseView(job, { again, current }) {
  const { rows, columns, response: likely } = job.data;
  const before = job.request;
  const dropped = new Set(before?.drop ?? columns.filter((column) => column.problem).map((column) => column.name));
  const usable = columns.filter((column) => ["numeric", "binary"].includes(column.kind) || column.name === before?.response);
  const gaps = columns.some((column) => column.missing);
  let asking = null;
  let timer = 0;

  const response = h("select", { id: "response", onchange: changed },
    usable.map((column) => h("option", { value: column.name, selected: column.name === (before?.response ?? likely) }, column.name)));
  const impute = h("input", { type: "checkbox", checked: before?.impute === "mean", onchange: changed });
  const quadratic = h("input", { type: "checkbox", checked: before?.quadratic ?? true, onchange: changed });
  const expected = numeric("expected", before?.expected_mains, { min: "0.1", step: "any", placeholder: "automatic" });
  const minutes = numeric("minutes", before?.max_seconds ? before.max_seconds / 60 : null, { min: "0.01", step: "any", placeholder: "none" });
  const seed = numeric("seed", before?.seed ?? 0, { min: "0", max: "2147483647", step: "1" });
  const plan = h("div", { "aria-live": "polite" });
  const start = h("button", { class: "main", type: "submit", disabled: true }, "Start the fit");

  function numeric(id, value, rest) {
    return h("input", { id, type: "number", value: value ?? "", oninput: changed, ...rest });
  }

  function choice() {
    return {
      response: response.value,
      drop: [...dropped].filter((name) => name !== response.value),
      impute: impute.checked,
      quadratic: quadratic.checked,
      expected_mains: expected.value === "" ? null : Number(expected.value),
      max_seconds: minutes.value === "" ? null : 60 * Number(minutes.value),
      seed: Math.trunc(Number(seed.value || 0)),
    };
  }

  function changed() {
    start.disabled = true;
    asking?.abort();
    clearTimeout(timer);
    plan.replaceChildren(busy("Checking the data and timing a step …"));
    timer = setTimeout(look, 500);
  }

  async function look() {
    asking = new AbortController();
    try {
      const made = await api.plan(job.id, choice(), asking.signal);
      plan.replaceChildren(planned(made));
      start.disabled = false;
    } catch (error) {
      if (error.name !== "AbortError") plan.replaceChildren(notice("bad", error.message));
    }
  }

  async function submit(event) {
    event.preventDefault();
    start.disabled = true;
    try {
      await api.start(job.id, choice());
      if (current()) again();
    } catch (error) {
      plan.replaceChildren(notice("bad", error.message));
      start.disabled = false;
    }
  }

  async function resume() {
    await api.resume(job.id);
    if (current()) again();
  }

  const field = (label, input, words) =>
    h("div", { class: "field" }, h("label", { for: input.id }, label), input, words ? h("span", { class: "soft small" }, words) : null);

  show(
    h("h1", { tabindex: "-1" }, job.title),
    h("p", { class: "soft" }, `${count(rows)} rows, ${count(columns.length)} columns`),
    job.state === "failed" ? notice("bad", job.message, "The last fit failed.") : null,
    job.state === "stopped" ? notice("warn", job.message) : null,
    job.resumable ? h("div", { class: "row" }, h("button", { type: "button", onclick: resume }, "Go on where it stopped")) : null,
    h("form", { class: "grid two", onsubmit: submit },
      h("section", { class: "card", "aria-labelledby": "columns" },
        h("h2", { id: "columns" }, "Columns"), table(columns, dropped, response, changed)),
      h("div", { class: "sticky" },
        h("section", { class: "card", "aria-labelledby": "choices" },
          h("h2", { id: "choices" }, "What to explain"),
          usable.length ? field("Response", response, "A column of numbers. All others explain it, but for those that are left out.")
            : notice("bad", "No column holds numbers, so none can be the response."),
          gaps ? h("label", { class: "check" }, impute, h("span", {}, "Fill in the mean where a covariate is missing")) : null,
          h("details", { open: Boolean(before && (before.expected_mains || before.max_seconds || !before.quadratic)) },
            h("summary", {}, "More options"),
            h("label", { class: "check" }, quadratic, h("span", {}, "Quadratic effects", h("span", { class: "soft small" }, " (a variable with itself)"))),
            field("Variables expected to matter", expected, "A guess is enough; the data speak louder."),
            field("Time limit in minutes", minutes, "Ends with the draws so far."),
            field("Seed", seed, "The same seed and data give the same result."))),
        h("section", { class: "card", "aria-labelledby": "plan" },
          h("h2", { id: "plan" }, "What it will take"), plan, start))),
  );
  if (usable.length) changed();
  return () => {
    clearTimeout(timer);
    asking?.abort();
  };
}

function planned(made) {
  const range = (words, [low, high]) => (words(low) === words(high) ? words(low) : `${words(low)} to ${words(high)}`);
  const figure = (what, value, note) =>
    h("div", {}, h("div", { class: "what" }, what), h("div", { class: "value" }, value), note ? h("div", { class: "note" }, note) : null);
  return h("div", {},
    made.too_large ? notice("bad", "This needs more memory than the machine has. Leave out columns or rows.") : null,
    h("div", { class: "figures" },
      figure("Time", range(duration, made.seconds)),
      figure("Memory", range(size, made.memory)),
      figure("To search", `${count(made.pairs)} pairs`, `${count(made.variables)} variables, ${count(made.rows)} rows`)),
    h("details", {}, h("summary", {}, "How this is known"), h("p", { class: "small" }, made.words)));
}

function table(columns, dropped, response, changed) {
  const body = h("tbody");
  const more = h("p", { class: "soft small" });
  const filter = h("input", { type: "search", "aria-label": "Filter columns by name", placeholder: "Filter by name", oninput: draw });

  function draw() {
    const wanted = filter.value.toLowerCase();
    const found = columns.filter((column) => column.name.toLowerCase().includes(wanted));
    // Columns with something to be said come first where there are too many to show.
    const shown = found.length > MOST_ROWS ? [...found].sort((a, b) => Boolean(b.problem) - Boolean(a.problem)).slice(0, MOST_ROWS) : found;
    body.replaceChildren(...shown.map(row));
    more.textContent = shown.length < found.length ? `${count(shown.length)} of ${count(found.length)} are shown. Filter to find others.` : "";
  }

  function row(column) {
    const box = h("input", { type: "checkbox", "aria-label": `Leave out ${column.name}`, checked: dropped.has(column.name), onchange: flip });
    const line = h("tr", { class: dropped.has(column.name) ? "out" : null },
      h("td", {}, box),
      h("td", { class: "name" }, column.name, column.problem ? h("div", { class: "problem" }, column.problem) : null,
        column.missing ? h("div", { class: "problem" }, `${count(column.missing)} missing`) : null),
      h("td", { class: "wide" }, KINDS[column.kind]),
      h("td", { class: "soft small" }, column.words));
    function flip() {
      if (box.checked) dropped.add(column.name);
      else dropped.delete(column.name);
      line.classList.toggle("out", box.checked);
      changed();
    }
    return line;
  }

  draw();
  return h("div", {},
    columns.length > 15 ? h("div", { class: "row" }, filter) : null,
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Columns of the data" },
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Leave out"), h("th", { scope: "col" }, "Name"),
        h("th", { scope: "col", class: "wide" }, "Kind"), h("th", { scope: "col" }, "Values"))), body)),
    more);
}
