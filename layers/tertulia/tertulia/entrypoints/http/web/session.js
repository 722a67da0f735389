/** Signing in where the server asks for a token. */

import { send } from "./api.js";
import { byId } from "./dom.js";

let running = null;

/** Ask for the token until the server accepts it; several callers share one question. */
export function signIn() {
  running ??= new Promise((resolve) => askForToken(resolve)).finally(() => (running = null));
  return running;
}

function askForToken(resolve) {
  const dialog = byId("sign-in");
  const form = dialog.querySelector("form");
  const problem = byId("sign-in-problem");
  const stay = (event) => event.preventDefault();
  const submit = async (event) => {
    event.preventDefault();
    try {
      await send("POST", "/api/session", { json: { token: byId("token").value } });
    } catch (failure) {
      if (failure.status !== 401) problem.textContent = failure.message;
      problem.hidden = false;
      return;
    }
    form.removeEventListener("submit", submit);
    dialog.removeEventListener("cancel", stay);
    byId("token").value = "";
    problem.hidden = true;
    dialog.close();
    resolve();
  };
  form.addEventListener("submit", submit);
  dialog.addEventListener("cancel", stay);
  dialog.showModal();
}
