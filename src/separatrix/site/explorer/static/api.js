// Requests to the server. A request stays open until its computation is done; aborting it kills the computation.

export class Refusal extends Error {
  constructor(message, kind) {
    super(message);
    this.kind = kind;
  }
}

export async function request(method, path, body, signal) {
  const options = { method, signal, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let response;
  let content;
  try {
    response = await fetch(path, options);
    content = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(response ? `the server answered ${response.status} without data` : "the server does not answer; is it running?", "gone");
  }
  if (!response.ok) throw new Refusal(content.error ?? `the server answered ${response.status}`, content.kind);
  return content;
}

const SHOWN_AFTER = 500; // milliseconds after which a running computation shows its seconds

/** One question at a time: a new one aborts the one before it, on the server as well. */
export class Asker {
  constructor(path) {
    this.path = path;
    this.controller = null;
  }

  /** The reply, or null when it was cancelled. `running` is called with the seconds that have passed. */
  async ask(body, running = () => {}) {
    this.cancel();
    const controller = new AbortController();
    this.controller = controller;
    const started = performance.now();
    const clock = setInterval(() => {
      const passed = performance.now() - started;
      if (passed > SHOWN_AFTER) running(passed / 1000);
    }, 100);
    try {
      return await request("POST", this.path, body, controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return null;
      throw error;
    } finally {
      clearInterval(clock);
      if (this.controller === controller) this.controller = null;
    }
  }

  cancel() {
    this.controller?.abort();
    this.controller = null;
  }
}
