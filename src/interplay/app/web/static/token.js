// The token: asked for where the server can be reached by others.

import { api } from "./api.js";
import { h, notice, show } from "./dom.js";

export function tokenView(message, again) {
  const input = h("input", { type: "password", id: "token", autocomplete: "current-password", required: true, size: 36 });
  const words = h("div", {}, h("p", {}, message));
  const form = h("form", { class: "card", onsubmit: submit },
    h("div", { class: "field" }, h("label", { for: "token" }, "Token"), input),
    h("button", { class: "main", type: "submit" }, "Enter"));
  async function submit(event) {
    event.preventDefault();
    try {
      await api.session(input.value);
      again();
    } catch (error) {
      words.replaceChildren(notice("bad", error.message));
      input.select();
    }
  }
  show(h("h1", { tabindex: "-1" }, "Who is there?"), words, form);
  input.focus();
}
