/** One turn over the network: sent once, followed to its end even where the connection breaks. */

import { Failure, send } from "./api.js";
import { eventsOf } from "./sse.js";
import { say } from "./texts.js";

const MOST_RESUMES = 5;
const PATIENCE_MS = 180_000;
const GOODBYE_MS = 3000;

/** A request that can be sent again as it was: its key makes the server take it once. */
export class Ask {
  constructor({ text = "", recording = null, conversationId, speak }) {
    this.text = text;
    this.recording = recording;
    this.fields = {
      ...(conversationId && { conversation_id: conversationId }),
      client_message_id: newKey(),
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    };
    this.speak = speak;
  }

  /** Return path and body. */
  request() {
    if (!this.recording) {
      return ["/api/chat/stream", { json: { text: this.text, ...this.fields, ...(this.speak && { speak: true }) } }];
    }
    const form = new FormData();
    form.append("audio", this.recording, this.recording.type.includes("mp4") ? "recording.mp4" : "recording.webm");
    for (const [name, value] of Object.entries(this.fields)) form.append(name, value);
    return ["/api/voice", { form }];
  }
}

/** A turn that runs. */
export class Turn {
  #ask;
  #leaving = new AbortController();
  #lastEventId = "";
  #watchdog = 0;
  #isLate = false;
  id = null;
  conversationId = null;

  constructor(ask) {
    this.#ask = ask;
  }

  /** Yield its events; ends after `done`, `error` or `stop`, and throws a Failure when it cannot be followed. */
  async *events() {
    try {
      yield* this.#follow();
    } catch (problem) {
      if (this.#isLate) throw new Failure("timeout", say("timeout"));
      if (!this.#leaving.signal.aborted) throw problem;
    } finally {
      clearTimeout(this.#watchdog);
    }
  }

  /** Stop the turn on the server; it says goodbye with `done`, or is left soon after. */
  stop() {
    if (!this.id) return this.#leaving.abort();
    send("POST", `/api/turns/${encodeURIComponent(this.id)}/stop`, { keepalive: true }).catch(() => this.#leaving.abort());
    setTimeout(() => this.#leaving.abort(), GOODBYE_MS);
  }

  async *#follow() {
    let response = await this.#open();
    for (let failures = 0; failures <= MOST_RESUMES; failures += 1) {
      try {
        for await (const event of eventsOf(response, () => this.#stillThere())) {
          failures = 0;
          this.#note(event);
          yield event;
          if (event.name === "done" || event.name === "error") return;
        }
      } catch (problem) {
        if (this.#leaving.signal.aborted) throw problem;
      }
      if (!this.id) break;
      response = await this.#resume(failures);
    }
    throw new Failure("broken", say("broken"));
  }

  async #open() {
    this.#stillThere();
    const [path, options] = this.#ask.request();
    const response = await send("POST", path, { ...options, ...this.#streaming() });
    this.id = response.headers.get("X-Turn-Id");
    this.conversationId = response.headers.get("X-Conversation-Id");
    return response;
  }

  async #resume(failures) {
    for (let attempt = failures; ; attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(4000, 250 * 2 ** attempt)));
      try {
        return await send("GET", `/api/turns/${encodeURIComponent(this.id)}/events`, this.#streaming(this.#lastEventId));
      } catch (problem) {
        if (problem.status || attempt >= MOST_RESUMES || this.#leaving.signal.aborted) throw problem;
      }
    }
  }

  #streaming(lastEventId = "") {
    const headers = { Accept: "text/event-stream", ...(lastEventId && { "Last-Event-ID": lastEventId }) };
    return { headers, signal: this.#leaving.signal };
  }

  #note(event) {
    if (event.id) this.#lastEventId = event.id;
    if (event.turn_id) this.id = event.turn_id;
    if (event.conversation_id) this.conversationId = event.conversation_id;
  }

  #stillThere() {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      this.#isLate = true;
      this.#leaving.abort();
    }, PATIENCE_MS);
  }
}

/** `crypto.randomUUID` exists in secure contexts only, and a home server may be plain HTTP. */
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
