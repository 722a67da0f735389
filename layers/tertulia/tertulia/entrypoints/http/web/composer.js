/** Where the person writes or speaks. */

import { byId } from "./dom.js";
import { Recording } from "./recorder.js";
import { label, say } from "./texts.js";

const DRAFT = "tertulia.draft";
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

/** The message field with its microphone. */
export class Composer {
  #words = byId("words");
  #meter = byId("meter");
  #mic = byId("mic");
  #bars = [...document.querySelectorAll(".bars i")];
  #recording = null;
  #isStarting = false;
  #handlers;

  constructor(handlers) {
    this.#handlers = handlers;
    this.keep(sessionStorage.getItem(DRAFT) ?? "");
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#words.addEventListener("input", () => this.#settle());
    this.#words.addEventListener("keydown", (event) => this.#onKey(event));
    this.#mic.addEventListener("click", () => (this.#recording ? this.#sendRecording() : this.#record()));
    byId("discard").addEventListener("click", () => this.#endRecording());
    byId("composer").addEventListener("keydown", ({ key }) => key === "Escape" && this.#endRecording());
    byId("stop").addEventListener("click", () => handlers.onStop());
  }

  /** What is written and not sent. */
  get words() {
    return this.#words.value;
  }

  /** Put words (back) into the field. */
  keep(text) {
    this.#words.value = text;
    this.#settle();
  }

  /** Show whether there is something to stop, and whether something can be sent. */
  show({ canStop, canSend }) {
    byId("stop").hidden = !canStop;
    byId("send").disabled = !canSend;
    this.#mic.disabled = !canSend && !this.#recording;
  }

  /** Go on writing. */
  focus() {
    if (matchMedia("(pointer: fine)").matches) this.#words.focus();
  }

  #settle() {
    sessionStorage.setItem(DRAFT, this.#words.value);
    this.#words.style.height = "auto";
    this.#words.style.height = `${this.#words.scrollHeight}px`;
  }

  #onKey(event) {
    // While an input method composes, Enter chooses a word.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#submit();
  }

  #submit() {
    if (this.#recording) this.#sendRecording();
    else if (this.words.trim() && !byId("send").disabled) this.#handlers.onText(this.words);
  }

  async #record() {
    if (this.#isStarting) return;
    this.#isStarting = true;
    this.#handlers.onRecord();
    try {
      this.#recording = await Recording.start((level, seconds) => this.#draw(level, seconds), () => this.#sendRecording());
      this.#showRecording(true);
    } catch {
      this.#handlers.onProblem(say("microphone"));
    } finally {
      this.#isStarting = false;
    }
  }

  async #sendRecording() {
    const sound = await this.#endRecording();
    if (sound?.size) this.#handlers.onRecording(sound);
  }

  async #endRecording() {
    const recording = this.#recording;
    if (!recording) return null;
    this.#recording = null;
    this.#showRecording(false);
    return recording.stop();
  }

  #showRecording(isOn) {
    byId("composer").classList.toggle("recording", isOn);
    this.#meter.hidden = !isOn;
    this.#words.hidden = isOn;
    byId("send").hidden = isOn;
    this.#mic.setAttribute("aria-pressed", String(isOn));
    label(this.#mic, say(isOn ? "sendRecording" : "speak"));
  }

  #draw(level, seconds) {
    byId("clock").textContent = `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
    if (STILL.matches) return this.#bars.forEach((bar, place) => bar.style.setProperty("--level", level * 9 > place ? 1 : 0.1));
    this.#bars.forEach((bar, place) => {
      const swing = 0.55 + 0.45 * Math.sin(seconds * 9 + place * 1.3);
      bar.style.setProperty("--level", Math.max(0.1, level * swing));
    });
  }
}
