// Talking to the server. A reply that takes longer arrives as a job: its progress is told and it can be cancelled.

export class Refusal extends Error {
  constructor(message, kind) {
    super(message);
    this.kind = kind;
  }
}

async function answer(response) {
  let content;
  try {
    content = await response.json();
  } catch {
    throw new Refusal(`the server answered ${response.status} and no data`, "internal");
  }
  if (!response.ok) throw new Refusal(content.error ?? `the server answered ${response.status}`, content.kind);
  return content;
}

export async function request(method, path, body, signal) {
  const options = { method, signal, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("the server does not answer; is it still running?", "gone");
  }
  return answer(response);
}

/** One question at a time: a new one replaces the one before it, on the server as well. */
export class Asker {
  constructor(path, method = "POST") {
    this.path = path;
    this.method = method;
    this.controller = null;
  }

  /** The reply, or null when another question came in between. `told` hears of progress as {what, done, total, seconds}. */
  async ask(body, told = () => {}) {
    this.cancel();
    const controller = new AbortController();
    this.controller = controller;
    try {
      const first = await request(this.method, this.path, body, controller.signal);
      const reply = first.job === undefined ? first : await this.follow(first, told, controller);
      return controller.signal.aborted ? null : reply;
    } catch (error) {
      if (controller.signal.aborted) return null;
      throw error;
    } finally {
      if (this.controller === controller) this.controller = null;
    }
  }

  /** Give up what is asked at the moment. */
  cancel() {
    this.controller?.abort();
    this.controller = null;
  }

  async follow(job, told, controller) {
    const address = `api/jobs/${job.job}`;
    const started = performance.now() - 1000 * job.seconds;
    let state = job;
    const tell = () => told({ ...state.progress, state: state.state, seconds: (performance.now() - started) / 1000 });
    const clock = setInterval(tell, 250);
    // That nobody waits any more is of interest to the server; its answer is not to us.
    controller.signal.addEventListener("abort", () => fetch(address, { method: "DELETE" }).catch(() => {}));
    try {
      for await (const event of events(`${address}/events`, controller.signal)) {
        state = event.data;
        tell();
      }
    } finally {
      clearInterval(clock);
    }
    if (state.state === "done") return state.reply;
    throw new Refusal(state.error ?? "cancelled", state.error_kind);
  }
}

/** Server-sent events as they come: {name, id, data}. Ends when the server ends them; `after` is the last id seen. */
export async function* events(path, signal, after = null) {
  const headers = { Accept: "text/event-stream" };
  if (after !== null) headers["Last-Event-ID"] = after;
  const response = await fetch(path, { headers, signal });
  if (!response.ok) await answer(response);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const pieces = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = pieces.pop();
    for (const piece of pieces) {
      const fields = Object.fromEntries(piece.split("\n").filter((line) => !line.startsWith(":")).map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
      if (fields.data !== undefined) yield { name: fields.event, id: fields.id ?? null, data: JSON.parse(fields.data) };
    }
  }
}
