/** The open conversation: sends what is asked, shows what comes back, speaks it. */

import { ask } from "./api.js";
import { bytesOf } from "./player.js";
import { say } from "./texts.js";
import { Ask, Turn } from "./turn.js";

/** One conversation at a time, one turn at a time. */
export class Talk {
  #parts;
  #round = null;
  id = null;

  /** `parts`: thread, composer, player, standing, announce, speaks, onChange. */
  constructor(parts) {
    this.#parts = parts;
  }

  /** Whether an answer is being made. */
  get isRunning() {
    return this.#round !== null;
  }

  /** Open a stored conversation, or an empty page for null. */
  async open(id) {
    this.stop();
    this.#round = null;
    this.id = id;
    this.#parts.standing.busy("");
    this.#parts.thread.clear();
    this.#parts.onChange();
    if (!id) return;
    const { messages } = await ask("GET", `/api/chat/conversations/${encodeURIComponent(id)}`);
    if (this.id === id) this.#parts.thread.addStored(messages);
  }

  /** Ask in writing. */
  write(text) {
    const { composer, thread, speaks } = this.#parts;
    composer.keep("");
    this.#run(new Ask({ text, conversationId: this.id, speak: speaks() }), thread.addQuestion(text));
  }

  /** Ask aloud. */
  speak(recording) {
    const question = this.#parts.thread.addQuestion("");
    question.wait(say("hearing"));
    this.#run(new Ask({ recording, conversationId: this.id, speak: this.#parts.speaks() }), question);
  }

  /** Stop answering and speaking. */
  stop() {
    this.#parts.player.stop();
    if (!this.#round) return;
    this.#round.isStopped = true;
    this.#round.turn.stop();
  }

  async #run(question, shown) {
    const { thread, standing, onChange } = this.#parts;
    const turn = new Turn(question);
    const round = { turn, question, shown, answer: thread.addAnswer(), isOver: false, isStopped: false };
    this.#round = round;
    standing.busy(say("busy"));
    onChange();
    try {
      for await (const event of turn.events()) this.#take(event, round);
      if (!round.isOver) this.#left(round);
    } catch (problem) {
      this.#failed(round, problem.message);
    } finally {
      if (this.#round === round) this.#round = null;
      if (!this.isRunning) standing.busy("");
      onChange();
    }
  }

  #take(event, round) {
    if (round.isStopped && !["done", "error"].includes(event.name)) return;
    const { standing, speaks, player } = this.#parts;
    const { answer, shown, question } = round;
    const takes = {
      waiting: () => standing.busy(event.ahead ? say("ahead", { ahead: event.ahead }) : say("busy")),
      route: () => answer.chose(event.route),
      transcript: () => shown.say(event.text),
      thinking: () => answer.usingTool(event.tool),
      tool_result: () => answer.usedTool(event.tool, event.ok, event.summary),
      token: () => {
        standing.busy(say("busy"));
        answer.token(event.text);
      },
      speech: () => (question.speak || question.recording) && speaks() && player.add(bytesOf(event.audio)),
      confirm: () => answer.text || answer.token(event.question),
      done: () => this.#done(event, round),
      error: () => this.#failed(round, event.message),
    };
    takes[event.name]?.();
  }

  #done(event, round) {
    const { announce, onTurn, thread } = this.#parts;
    round.isOver = true;
    if (!event.turn_id) {
      round.answer.node.remove();
      round.shown.node.remove();
      thread.addRemark(say("silence"));
      return;
    }
    round.answer.finish(event.response, event.receipt, event.interrupted || round.isStopped);
    if (!round.isStopped) announce(event.response);
    if (this.#round === round) this.id = event.conversation_id ?? this.id;
    onTurn(this.id);
  }

  #left(round) {
    round.isOver = true;
    round.answer.finish("", null, true);
    if (this.#round === round && round.answer.text) this.id ??= round.turn.conversationId;
    this.#parts.onTurn(this.id);
  }

  #failed(round, message) {
    const { composer, standing } = this.#parts;
    const { question, answer, shown } = round;
    if (round.isOver) return;
    round.isOver = true;
    if (question.text && !composer.words.trim()) composer.keep(question.text);
    if (question.recording && !shown.node.textContent.trim()) shown.wait("…");
    standing.watch();
    answer.fail(message, () => this.#again(round));
  }

  #again({ question, answer, shown }) {
    if (this.isRunning) return;
    const { composer } = this.#parts;
    if (composer.words === question.text) composer.keep("");
    answer.node.remove();
    this.#run(question, shown);
  }
}
