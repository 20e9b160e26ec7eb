// The start: bring data, or go back to what is there.

import { api, LARGEST } from "./api.js";
import { announce, busy, h, notice, show } from "./dom.js";

const STATES = { new: "not started", queued: "waiting", running: "running", stopping: "stopping", stopped: "stopped", failed: "failed", done: "done" };

export async function startView({ current }) {
  const { jobs, demos } = await api.jobs();
  if (!current()) return;
  const status = h("div", { "aria-live": "polite" });
  const input = h("input", { type: "file", id: "file", class: "unseen", accept: ".csv,.tsv,.txt,text/csv,text/plain", onchange: () => take(input.files[0]) });
  const drop = h("label", { class: "drop", for: "file", ondragover: over, ondragleave: out, ondrop: dropped },
    h("strong", {}, "Choose a CSV file, or drop it here"),
    h("span", { class: "soft" }, "One row per case, one column per variable, names in the first line; commas, semicolons or tabs. Up to 50 MB. It stays on the machine of this server."),
    input);

  function over(event) { event.preventDefault(); drop.classList.add("over"); }
  function out() { drop.classList.remove("over"); }
  function dropped(event) { event.preventDefault(); out(); take(event.dataTransfer.files[0]); }

  async function bring(words, call) {
    status.replaceChildren(busy(words));
    try {
      location.hash = `#/job/${(await call()).id}`;
    } catch (error) {
      status.replaceChildren(notice("bad", error.message));
      input.value = "";
    }
  }

  function take(file) {
    if (!file) return;
    if (file.size > LARGEST) {
      status.replaceChildren(notice("bad", "The file is larger than 50 MB. Leave out rows or columns, or use the command line, which has no such limit: interplay fit data.csv --response y"));
      input.value = "";
      return;
    }
    bring(`Reading ${file.name} …`, () => api.upload(file));
  }

  const examples = Object.entries(demos).map(([name, words]) =>
    h("button", { type: "button", onclick: () => bring("Making the example …", () => api.demo(name)) }, words));

  show(
    h("h1", { tabindex: "-1" }, "Find out which variables act together"),
    h("p", { class: "soft" }, "Bring a table with a numeric response. You get every main effect and the interactions among all pairs of variables, each with its uncertainty, and a word on whether to trust it."),
    drop,
    h("div", { class: "row card" }, h("span", {}, "No data at hand? Try "), examples),
    status,
    jobs.length ? list(jobs) : null,
  );
}

function list(jobs) {
  const section = h("section", { class: "card", "aria-labelledby": "yours" }, h("h2", { id: "yours" }, "Your data and fits"));
  const items = h("ul", { class: "plain" });
  for (const job of jobs) {
    const when = new Date(job.created * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    const item = h("li", {},
      h("div", { class: "grow" }, h("a", { href: `#/job/${job.id}` }, job.title),
        h("div", { class: "soft small" }, job.response ? `response ${job.response}, ${when}` : when)),
      h("span", { class: `tag ${job.state}` }, STATES[job.state]),
      ["queued", "running", "stopping"].includes(job.state) ? null
        : h("button", { class: "quiet", type: "button", "aria-label": `Delete ${job.title}`, onclick: () => remove(job, item) }, "Delete"));
    items.append(item);
  }
  section.append(items);
  return section;
}

async function remove(job, item) {
  if (!confirm(`Delete ${job.title}, with its data and results? This cannot be undone.`)) return;
  try {
    await api.remove(job.id);
    item.remove();
    announce(`${job.title} was deleted.`);
  } catch (error) {
    item.append(notice("bad", error.message));
  }
}
