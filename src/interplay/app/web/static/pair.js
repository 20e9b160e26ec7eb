// A pair: the response over both variables, along one by the other, and the posterior of their interaction.

import { density, slopes, surface } from "./charts.js";
import { h, number, probability } from "./dom.js";

export function pairView(made, swap) {
  const names = [made.first, made.second];
  const [effect] = made.effects;
  return h("div", {},
    h("p", {}, meaning(made, effect)),
    h("div", { class: "grid even" },
      h("div", {}, h("h3", {}, "Surface"), surface(made.surface, made.observed, names, made.response)),
      h("div", {}, h("div", { class: "row spread" }, h("h3", {}, `Along ${made.first}`), h("button", { type: "button", onclick: swap }, "Swap the two")),
        slopes(made.slopes, names, made.response),
        h("p", { class: "small soft" }, "Parallel lines mean no interaction. Bands hold the mean with a probability of 90 %; other variables are at their means."))),
    h("h3", {}, made.effects.length > 1 ? "Posterior of the interaction, the surest levels first" : "Posterior of the interaction"),
    h("div", { class: "grid even" }, made.densities.map((entry) =>
      posteriorView(entry, made.effects.find((row) => row.term === entry.term), made.response))));
}

export function posteriorView(made, effect, response) {
  return h("div", {},
    h("p", {}, h("strong", {}, made.term), ` ${number(effect.mean_natural)}, 90 % interval ${number(effect.lower_natural)} to ${number(effect.upper_natural)}; P(> 0) ${probability(effect.prob_positive)}; lfsr ${probability(effect.lfsr)}`),
    density(made, effect, `effect on ${response}, in units of the data`));
}

function meaning(made, effect) {
  const sure = effect.lfsr <= 0.05
    ? "The sign of this interaction is known with a probability of 95 % or more."
    : `The data do not settle the sign of this interaction: it is wrong with a chance of ${probability(effect.lfsr)}.`;
  if (made.effects.length > 1) return sure;
  const way = effect.mean_natural < 0 ? "lowers" : "raises";
  return `${sure} As a best guess, one more unit of ${made.second} ${way} the slope of ${made.response} on ${made.first} by ${number(Math.abs(effect.mean_natural))}.`;
}
