/** The page: puts its parts together. */

import { whenSignInIsNeeded } from "./api.js";
import { Composer } from "./composer.js";
import { byId, make } from "./dom.js";
import { Drawer } from "./drawer.js";
import { Player } from "./player.js";
import { signIn } from "./session.js";
import { Standing } from "./standing.js";
import { Talk } from "./talk.js";
import { fillPage, say } from "./texts.js";
import { Thread } from "./thread.js";

const ALOUD = "tertulia.aloud";

fillPage(document);
whenSignInIsNeeded(signIn);

const thread = new Thread(byId("thread"), byId("scroller"), byId("greeting"));
const standing = new Standing();
const player = new Player(() => showButtons());

const composer = new Composer({
  onText: (text) => {
    if (readsAloud()) player.wake();
    player.stop();
    talk.write(text);
  },
  onRecord: () => {
    if (localStorage.getItem(ALOUD) === null) setAloud(true);
    player.wake();
    player.stop();
  },
  onRecording: (recording) => talk.speak(recording),
  onStop: () => talk.stop(),
  onProblem: (message) => thread.addRemark(message),
});

const drawer = new Drawer({
  onOpen: (id) => open(id),
  onNew: () => open(null),
  onGone: (id) => id === talk.id && open(null),
  onProblem: (problem) => thread.addRemark(problem.message),
});

const talk = new Talk({
  thread,
  composer,
  player,
  standing,
  speaks: readsAloud,
  announce: (text) => (byId("announcer").textContent = text),
  onChange: showButtons,
  onTurn: (id) => {
    remember(id);
    drawer.refresh();
  },
});

byId("speaker").addEventListener("click", () => {
  setAloud(!readsAloud());
  if (readsAloud()) player.wake();
  else player.stop();
});
addEventListener("hashchange", () => {
  if (idInAddress() !== talk.id) open(idInAddress());
});
for (const text of say("suggestions")) {
  byId("suggestions").append(make("li", {}, make("button", { type: "button", click: () => talk.isRunning || talk.write(text) }, text)));
}

byId("speaker").setAttribute("aria-pressed", String(localStorage.getItem(ALOUD) === "yes"));
showButtons();
standing.watch();
drawer.refresh();
if (idInAddress()) open(idInAddress());
composer.focus();

async function open(id) {
  remember(id);
  try {
    await talk.open(id);
  } catch (problem) {
    if (problem.status === 404) remember(null);
    talk.id = null;
    thread.addRemark(problem.message);
  }
  composer.focus();
}

function remember(id) {
  if (idInAddress() !== id) history.replaceState(null, "", id ? `#${id}` : location.pathname);
  drawer.mark(id);
}

function idInAddress() {
  return location.hash.slice(1) || null;
}

function readsAloud() {
  return byId("speaker").getAttribute("aria-pressed") === "true";
}

function setAloud(isOn) {
  byId("speaker").setAttribute("aria-pressed", String(isOn));
  localStorage.setItem(ALOUD, isOn ? "yes" : "no");
}

function showButtons() {
  composer.show({ canStop: talk.isRunning || player.isBusy, canSend: !talk.isRunning });
}
