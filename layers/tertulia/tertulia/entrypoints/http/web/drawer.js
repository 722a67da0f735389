/** The list of conversations at the side: open one, delete one, start anew. */

import { ask } from "./api.js";
import { byId, icon, make } from "./dom.js";
import { label, language, say } from "./texts.js";

const WIDE = matchMedia("(min-width: 60rem)");
const PAGE_SIZE = 30;

/** The drawer; on a wide window it stays in view. */
export class Drawer {
  #list = byId("conversations");
  #panel = byId("drawer");
  #page = 1;
  #current = null;
  #onOpen;
  #onGone;

  constructor({ onOpen, onNew, onGone, onProblem }) {
    this.#onOpen = onOpen;
    this.#onGone = onGone;
    this.onProblem = onProblem;
    byId("drawer-open").addEventListener("click", () => this.#show(!this.#panel.matches(".open")));
    byId("drawer-close").addEventListener("click", () => this.#show(false));
    byId("backdrop").addEventListener("click", () => this.#show(false));
    byId("more").addEventListener("click", () => this.refresh(this.#page + 1));
    byId("new").addEventListener("click", () => {
      this.#show(false);
      onNew();
    });
    this.#panel.addEventListener("keydown", ({ key }) => key === "Escape" && this.#show(false));
    WIDE.addEventListener("change", () => this.#show(false));
    this.#show(false);
  }

  /** Mark the conversation that is open. */
  mark(id) {
    this.#current = id;
    for (const row of this.#list.querySelectorAll("[data-id]")) {
      row.querySelector(".open-one").setAttribute("aria-current", String(row.dataset.id === id));
    }
  }

  /** Read the list again; further pages are added below. */
  async refresh(page = 1) {
    try {
      const { conversations } = await ask("GET", `/api/chat/conversations?page=${page}&page_size=${PAGE_SIZE}`);
      this.#page = page;
      const rows = conversations.map((one) => this.#row(one));
      if (page === 1) this.#list.replaceChildren(...(rows.length ? rows : [make("li", { class: "empty" }, say("noConversations"))]));
      else this.#list.append(...rows);
      byId("more").hidden = conversations.length < PAGE_SIZE;
      this.mark(this.#current);
    } catch (problem) {
      this.onProblem(problem);
    }
  }

  #row({ id, title, updated_at: updatedAt }) {
    const name = title || say("untitled");
    const open = make("button", { class: "open-one", type: "button", click: () => this.#choose(id) },
      make("span", { class: "title", dir: "auto" }, name), make("time", { datetime: updatedAt }, ago(updatedAt)));
    const remove = make("button", { class: "round small", type: "button", click: () => this.#remove(id, name) }, icon("trash"));
    label(remove, `${say("delete")}: ${name}`);
    return make("li", { "data-id": id }, open, remove);
  }

  #choose(id) {
    this.#show(false);
    this.#onOpen(id);
  }

  async #remove(id, title) {
    if (!(await confirmed(say("deleteQuestion", { title })))) return;
    try {
      await ask("DELETE", `/api/chat/conversations/${encodeURIComponent(id)}`);
    } catch (problem) {
      if (problem.status !== 404) return this.onProblem(problem);
    }
    this.#onGone(id);
    await this.refresh();
  }

  #show(isOpen) {
    const wasOpen = this.#panel.matches(".open");
    this.#panel.classList.toggle("open", isOpen);
    this.#panel.inert = !isOpen && !WIDE.matches;
    byId("backdrop").hidden = !isOpen || WIDE.matches;
    byId("drawer-open").setAttribute("aria-expanded", String(isOpen));
    if (isOpen && !wasOpen) {
      this.refresh();
      byId("drawer-close").focus();
    } else if (wasOpen && !isOpen) byId("drawer-open").focus();
  }
}

/** Ask for a yes. */
function confirmed(question) {
  const dialog = byId("confirm");
  byId("confirm-question").textContent = question;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

function ago(iso) {
  const days = Math.round((Date.parse(iso) - Date.now()) / 86_400_000);
  if (Number.isNaN(days)) return "";
  if (days > -1) return new Date(iso).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
  if (days > -7) return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(days, "day");
  return new Date(iso).toLocaleDateString(language, { dateStyle: "medium" });
}
