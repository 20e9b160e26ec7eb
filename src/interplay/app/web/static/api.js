// Questions to the server. An error has the words that the server found for it.

export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Is it still running? Nothing is lost: reload when it is back.");
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Problem(answer.status, body.message ?? `The server answered ${answer.status}.`);
  return body;
}

const send = (path, value, options = {}) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value ?? {}), ...options });

const query = (values) => new URLSearchParams(values).toString();

export const LARGEST = 50_000_000;

export const api = {
  session: (token) => send("session", { token }),
  jobs: () => ask("jobs"),
  job: (id) => ask(`jobs/${id}`),
  upload: (file) => ask(`jobs?${query({ name: file.name })}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file }),
  demo: (name) => send(`demos/${name}`),
  copy: (id) => send(`jobs/${id}/copy`),
  plan: (id, choice, signal) => send(`jobs/${id}/plan`, choice, { signal }),
  start: (id, choice) => send(`jobs/${id}/start`, choice),
  resume: (id) => send(`jobs/${id}/resume`),
  stop: (id) => send(`jobs/${id}/stop`),
  remove: (id) => ask(`jobs/${id}`, { method: "DELETE" }),
  results: (id) => ask(`jobs/${id}/results`),
  effects: (id, term) => ask(`jobs/${id}/effects?${query({ term })}`),
  posterior: (id, parts) => ask(`jobs/${id}/posterior?${query(parts.map((part) => ["part", part]))}`),
  pair: (id, first, second) => ask(`jobs/${id}/pair?${query({ first, second })}`),
  events: (id) => new EventSource(`api/jobs/${id}/events`),
  file: (id, name) => `api/jobs/${id}/${name}`,
};
