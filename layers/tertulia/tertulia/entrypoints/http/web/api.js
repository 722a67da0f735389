/** The way to the server: every failure comes back as one plain sentence with a code. */

import { say } from "./texts.js";

let signIn = () => Promise.reject(new Failure("unauthorized", say("wrongToken")));

/** A failure that can be shown as it stands. */
export class Failure extends Error {
  constructor(code, message, status = 0) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** Say how a token is asked for; it resolves when there is a session. */
export function whenSignInIsNeeded(ask) {
  signIn = ask;
}

/** Send a request and return its response; a missing session is asked for, then the request is repeated. */
export async function send(method, path, options = {}) {
  const response = await reach(method, path, options);
  if (response.status === 401 && path !== "/api/session") {
    await signIn();
    return send(method, path, options);
  }
  if (!response.ok) throw await failureOf(response);
  return response;
}

/** Send a request and return the JSON of its answer. */
export async function ask(method, path, options = {}) {
  const response = await send(method, path, options);
  return response.status === 202 || response.status === 204 ? {} : response.json();
}

async function reach(method, path, { json, form, headers = {}, signal, keepalive }) {
  const request = { method, headers: { ...headers }, signal, keepalive, body: form, credentials: "same-origin" };
  if (json) {
    request.body = JSON.stringify(json);
    request.headers["Content-Type"] = "application/json";
  }
  try {
    return await fetch(path, request);
  } catch (problem) {
    if (signal?.aborted) throw problem;
    throw new Failure("unreachable", say("unreachable", { reason: say(navigator.onLine ? "noAnswer" : "offline") }));
  }
}

async function failureOf(response) {
  const problem = await response.json().catch(() => ({}));
  const message = typeof problem.detail === "string" && problem.detail ? problem.detail : say("unknown");
  return new Failure(problem.code ?? "internal", message, response.status);
}
