/** The conversation as it is seen: questions, answers that grow, and what the assistant did on the way. */

import { icon, make } from "./dom.js";
import { say } from "./texts.js";

const NEAR_THE_END = 80;

/** All messages of the open conversation. */
export class Thread {
  #root;
  #scroller;
  #greeting;

  constructor(root, scroller, greeting) {
    this.#root = root;
    this.#scroller = scroller;
    this.#greeting = greeting;
  }

  /** Start over with an empty page. */
  clear() {
    this.#root.replaceChildren();
    this.#greeting.hidden = false;
  }

  /** Show what the person said; a spoken question is filled once it is understood. */
  addQuestion(text) {
    const words = make("p", { class: "words", dir: "auto" }, text);
    const node = make("article", { class: "message question" }, make("h3", { class: "unseen" }, say("you")), words);
    this.#append(node);
    return {
      node,
      say: (said) => (words.textContent = said),
      wait: (note) => words.replaceChildren(make("span", { class: "pending" }, note)),
    };
  }

  /** Make room for an answer. */
  addAnswer() {
    const answer = new Answer(() => this.follow());
    this.#append(answer.node);
    return answer;
  }

  /** Show a kind remark that is no message. */
  addRemark(text) {
    const node = make("p", { class: "remark", role: "status" }, text);
    this.#append(node);
    return node;
  }

  /** Show messages that were stored. */
  addStored(messages) {
    let answer = null;
    for (const message of messages) {
      if (message.role === "user") {
        this.addQuestion(message.content);
        answer = null;
        continue;
      }
      answer ??= this.addAnswer();
      if (message.role === "tool") answer.usedTool(message.tool_name ?? "");
      else if (message.content || message.interrupted) {
        answer.finish(message.content ?? "", message.receipt, message.interrupted);
        if (message.route) answer.chose(message.route);
        answer = null;
      }
    }
    this.follow(true);
  }

  /** Keep the end in view, unless the person has scrolled up to read. */
  follow(always = false) {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    if (always || scrollHeight - scrollTop - clientHeight < NEAR_THE_END) this.#scroller.scrollTop = scrollHeight;
  }

  #append(node) {
    this.#greeting.hidden = true;
    this.#root.append(node);
    this.follow(true);
  }
}

/** One answer: its text grows token by token. */
class Answer {
  #text = document.createTextNode("");
  #steps = make("ul", { class: "steps" });
  #words = make("p", { class: "words", dir: "auto" }, this.#text);
  #foot = make("div", { class: "about" });
  #onGrowth;

  constructor(onGrowth) {
    this.#onGrowth = onGrowth;
    const dots = make("span", { class: "dots", "aria-hidden": "true" }, make("i"), make("i"), make("i"));
    const title = make("h3", { class: "unseen" }, say("assistant"));
    this.node = make("article", { class: "message answer waiting" }, title, this.#steps, this.#words, dots, this.#foot);
  }

  /** All it says so far. */
  get text() {
    return this.#text.data;
  }

  /** Add text at its end. */
  token(text) {
    this.node.classList.remove("waiting");
    this.#text.appendData(text);
    this.#onGrowth();
  }

  /** Show the way it is answered. */
  chose(route) {
    this.#foot.prepend(make("span", { class: "chip" }, ["simple", "context", "persona"].includes(route) ? say(route) : route));
  }

  /** A tool is being used. */
  usingTool(tool) {
    this.#steps.append(make("li", { "data-tool": tool, class: "running" }, icon("tool"), make("span", {}, say("using", { tool }))));
    this.#onGrowth();
  }

  /** A tool has answered. */
  usedTool(tool, ok = true, summary = "") {
    const running = [...this.#steps.children].find((step) => step.dataset.tool === tool && step.matches(".running"));
    const words = ok ? [tool, summary].filter(Boolean).join(" · ") : say("toolFailed", { tool });
    const step = make("li", { "data-tool": tool, class: ok ? "" : "failed" }, icon("tool"), make("span", { dir: "auto" }, words));
    if (running) running.replaceWith(step);
    else this.#steps.append(step);
  }

  /** The answer is whole, or was stopped. */
  finish(text, receipt, isInterrupted = false) {
    this.node.classList.remove("waiting");
    if (text) this.#text.data = text;
    if (isInterrupted) this.#foot.append(make("span", { class: "chip" }, say("stopped")));
    if (receipt) this.#foot.append(...receiptOf(receipt));
    this.#onGrowth();
  }

  /** The turn failed: one sentence, and a way to try again. */
  fail(message, retry) {
    this.node.classList.remove("waiting");
    const again = make("button", { class: "quiet", type: "button", click: retry }, say("retry"));
    this.node.append(make("div", { class: "problem", role: "alert" }, make("span", {}, message), again));
    this.#onGrowth();
  }
}

function receiptOf({ stages = {}, models = {}, memories_used: memories = 0, degraded = [] }) {
  const times = [["firstToken", stages.first_token], ["firstSpeech", stages.first_speech], ["total", stages.total]]
    .filter(([, ms]) => ms !== undefined)
    .map(([key, ms]) => `${say(key)} ${duration(ms)}`);
  const names = [...new Set(Object.values(models))];
  const lines = [times.join(" · "), names.join(" · "), memories && say("memories", { count: memories }), ...degraded.map((what) => say("without", { what }))];
  const shown = lines.filter(Boolean).map((line) => make("span", {}, line));
  if (!shown.length) return [];
  const toggle = ({ target }) => target.open && target.scrollIntoView({ block: "nearest" });
  return [make("details", { class: "receipt", toggle }, make("summary", {}, say("details")), ...shown)];
}

function duration(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
