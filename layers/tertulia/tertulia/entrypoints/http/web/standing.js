/** How the server stands: asked again and again until it is ready, and after it was lost. */

import { byId } from "./dom.js";
import { say } from "./texts.js";

const AGAIN_MS = 1000;

/** The line in the head of the page. */
export class Standing {
  #server = "starting";
  #line = "";
  #isAsking = false;

  /** Ask until the server is ready. */
  async watch() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    while ((this.#server = await standing()) !== "ready") {
      this.#draw();
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    this.#isAsking = false;
    this.#draw();
  }

  /** A turn runs, with this said about it; an empty text ends it. */
  busy(line) {
    this.#line = line;
    this.#draw();
  }

  #draw() {
    const state = this.#line ? "busy" : this.#server;
    const text = this.#line || say(this.#server);
    byId("state").dataset.state = state;
    if (byId("state-text").textContent !== text) byId("state-text").textContent = text;
  }
}

async function standing() {
  try {
    return (await fetch("/api/health")).ok ? "ready" : "starting";
  } catch {
    return "away";
  }
}
