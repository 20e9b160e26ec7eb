// Which view is shown: the address after # says it, so a reload or a second tab finds it again.

import { api } from "./api.js";
import { busy, h, notice, show, title } from "./dom.js";
import { chooseView } from "./choose.js";
import { resultsView } from "./results.js";
import { runView } from "./run.js";
import { startView } from "./start.js";
import { tokenView } from "./token.js";

const ACTIVE = ["queued", "running", "stopping"];
let leave = () => {};
let turn = 0;

async function route() {
  const mine = ++turn;
  const current = () => mine === turn;
  leave();
  leave = () => {};
  const [place, id, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  try {
    if (place.startsWith("token=")) {
      const token = place.slice("token=".length);
      history.replaceState(null, "", "#/");
      await api.session(token);
      return route();
    }
    if (place === "job") {
      show(busy("Loading …"));
      const job = await api.job(id);
      if (!current()) return;
      title(job.title);
      const view = ACTIVE.includes(job.state) ? runView : job.state === "done" ? resultsView : chooseView;
      leave = (await view(job, { again: route, rest, current })) ?? leave;
      if (!current()) return;
    } else {
      title("");
      await startView({ current });
    }
    if (!rest.length) document.querySelector("h1")?.focus({ preventScroll: true });
  } catch (error) {
    if (!current()) return;
    if (error.status === 401) tokenView(error.message, route);
    else show(h("h1", { tabindex: "-1" }, "That did not work"), notice("bad", error.message), h("a", { href: "#/" }, "Back to the start"));
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// The results view moves between pairs by itself.
window.addEventListener("hashchange", (event) => {
  const job = (address) => address.split("#")[1]?.match(/^\/job\/[^/]+/)?.[0];
  const pair = new CustomEvent("pair", { cancelable: true });
  if (job(event.oldURL) && job(event.oldURL) === job(event.newURL) && !window.dispatchEvent(pair)) return;
  window.scrollTo(0, 0);
  route();
});
route();
