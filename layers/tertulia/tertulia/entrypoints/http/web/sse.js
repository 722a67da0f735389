/** Server-sent events read from a fetch, whose body may be cut into chunks anywhere. */

/** Turns text, fed in pieces of any size, into events `{name, data, id}`. */
export class EventParser {
  #line = "";
  #endedInReturn = false;
  #name = "";
  #data = [];
  #id = "";

  /** Take more text and return the events that are whole now. */
  feed(text) {
    const events = [];
    if (!text) return events;
    const lines = (this.#endedInReturn ? text.replace(/^\n/, "") : text).split(/\r\n|\r|\n/);
    this.#endedInReturn = text.endsWith("\r");
    lines[0] = this.#line + lines[0];
    this.#line = lines.pop();
    for (const line of lines) this.#endLine(line, events);
    return events;
  }

  #endLine(line, events) {
    if (line) return this.#field(line);
    if (this.#data.length) events.push({ name: this.#name || "message", data: this.#data.join("\n"), id: this.#id });
    this.#name = "";
    this.#data = [];
  }

  #field(line) {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
  }
}

/** Yield the events of a response; `onBytes` hears of every chunk, pings too. */
export async function* eventsOf(response, onBytes = () => {}) {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      onBytes();
      for (const { name, data, id } of parser.feed(decoder.decode(value, { stream: true }))) {
        yield { name, id, ...JSON.parse(data) };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
