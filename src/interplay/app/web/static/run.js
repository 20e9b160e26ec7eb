// The run: how far it is, live. Every event holds all there is, so a lost connection loses nothing.

import { api } from "./api.js";
import { announce, duration, h, notice, number, show, title } from "./dom.js";
import { lines } from "./charts.js";

const PHASES = {
  start: "Looking for variables that matter",
  "warm-up": "Warming up",
  sampling: "Sampling",
  checking: "Checking, and working out the effects",
};
const GOOD_R_HAT = 1.01;
const GOOD_ESS = 400;

export async function runView(job, { again, current }) {
  let source = null;
  let state = job;
  let told = performance.now();
  const heading = h("h2", { id: "phase" });
  const bar = h("progress", { max: "1", "aria-labelledby": "phase" });
  const figures = h("div", { class: "figures" });
  const chart = h("div");
  const connection = h("div", { role: "status" });
  const stop = h("button", { type: "button", onclick: end }, "Stop, and keep the draws so far");

  async function end() {
    stop.disabled = true;
    try {
      draw(await api.stop(job.id));
    } catch (error) {
      connection.replaceChildren(notice("bad", error.message));
      stop.disabled = false;
    }
  }

  function draw(next) {
    state = next;
    told = performance.now();
    const stage = state.stage;
    const waiting = state.state === "queued";
    const words = waiting
      ? state.ahead ? `Waiting for ${state.ahead} other ${state.ahead === 1 ? "fit" : "fits"}` : "About to begin"
      : state.state === "stopping" ? "Stopping: the draws so far are kept"
      : stage ? PHASES[stage.phase] : "Starting";
    heading.textContent = words;
    if (waiting || !stage || ["start", "checking"].includes(stage.phase)) bar.removeAttribute("value");
    else bar.value = stage.done;
    stop.textContent = waiting ? "Take it out of the queue" : "Stop, and keep the draws so far";
    stop.disabled = state.state === "stopping";
    const percent = stage && ["warm-up", "sampling"].includes(stage.phase) ? `${Math.floor(10 * stage.done) * 10} %` : "";
    announce([words, percent].filter(Boolean).join(", "));
    title(`${percent || words} · ${job.title}`);
    chart.replaceChildren(...(state.history.length > 1 ? charts(state.history) : []));
    tick();
  }

  function tick() {
    const stage = state.stage;
    const passed = state.seconds + (state.started ? (performance.now() - told) / 1000 : 0);
    figures.replaceChildren(
      figure("Time so far", duration(passed)),
      figure("Time left", stage?.seconds_left && stage.phase === "sampling" ? `about ${duration(stage.seconds_left)}` : "–"),
      figure("Draws", stage?.draws ? `${stage.draws} × ${stage.chains}` : "–", "each chain × chains"),
      figure("R-hat", stage?.draws ? number(stage.r_hat, 4) : "–", `wanted: at most ${GOOD_R_HAT}`),
      figure("Effective draws", stage?.draws && stage.ess !== null ? Math.round(stage.ess) : "–", `wanted: at least ${GOOD_ESS}`),
      figure("Divergent", stage?.draws ? stage.divergences : "–", "wanted: next to none"));
  }

  function listen() {
    source?.close();
    source = api.events(job.id);
    source.onopen = () => connection.replaceChildren();
    source.onmessage = (event) => {
      const next = JSON.parse(event.data);
      if (["queued", "running", "stopping"].includes(next.state)) return draw(next);
      source.close();
      announce(next.state === "done" ? "Done." : "It has ended.");
      if (current()) again();
    };
    source.addEventListener("gone", () => {
      source.close();
      location.hash = "#/";
    });
    source.onerror = () => {
      connection.replaceChildren(notice("warn", "The connection is lost. Trying again … The fit goes on as long as the server does, and after."));
      // A refusal ends the browser's own trying.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => current() && !document.hidden && listen(), 2000);
    };
  }

  // A browser has few connections to a server: a page that nobody looks at gives its own back.
  function seen() {
    if (document.hidden) source?.close();
    else listen();
  }

  show(
    h("h1", { tabindex: "-1" }, job.title),
    h("p", { class: "soft" }, `Explaining ${job.request.response}. You can close this page: the fit goes on, and you find it again at the start.`),
    h("section", { class: "card" }, heading, bar, figures, h("div", { class: "row" }, stop), connection),
    chart,
  );
  draw(job);
  listen();
  const clock = setInterval(tick, 1000);
  document.addEventListener("visibilitychange", seen);
  return () => {
    clearInterval(clock);
    document.removeEventListener("visibilitychange", seen);
    source?.close();
  };
}

const figure = (what, value, note) =>
  h("div", {}, h("div", { class: "what" }, what), h("div", { class: "value" }, String(value)), note ? h("div", { class: "note" }, note) : null);

function charts(history) {
  const series = (index) => history.filter((entry) => entry[index] !== null).map((entry) => [entry[0], entry[index]]);
  const card = (heading, points, target, words) => points.length < 2 ? null
    : h("section", { class: "card" }, h("h2", {}, heading), lines(points, target, words));
  return [h("div", { class: "grid even" },
    card("R-hat", series(1), GOOD_R_HAT, "R-hat by draws of each chain"),
    card("Effective draws", series(2), GOOD_ESS, "effective draws by draws of each chain"))];
}
