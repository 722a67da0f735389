/** Plays sentences one after the other, in the order they were added. */

/** A queue of sound. */
export class Player {
  #context = null;
  #tail = Promise.resolve();
  #round = 0;
  #playing = new Set();
  #waiting = 0;
  #freeAt = 0;
  #onChange;

  constructor(onChange) {
    this.#onChange = onChange;
  }

  /** Whether sound plays or waits to. */
  get isBusy() {
    return this.#playing.size + this.#waiting > 0;
  }

  /** Browsers let a page make sound only after a touch or a key: call this in its handler. */
  wake() {
    this.#context ??= new AudioContext();
    this.#context.resume().catch(() => {});
  }

  /** Queue a whole WAV. */
  add(wav) {
    this.wake();
    const round = this.#round;
    this.#waiting += 1;
    this.#onChange();
    this.#tail = this.#tail.then(() => this.#decode(wav, round)).finally(() => {
      if (round === this.#round) this.#waiting -= 1;
      this.#onChange();
    });
  }

  /** Fall silent now and forget what waits. */
  stop() {
    this.#round += 1;
    this.#waiting = 0;
    for (const source of this.#playing) source.stop();
    this.#playing.clear();
    this.#freeAt = 0;
    this.#onChange();
  }

  async #decode(wav, round) {
    try {
      const sound = await this.#context.decodeAudioData(wav);
      if (round === this.#round) this.#play(sound);
    } catch {
      // A sentence that cannot be played is still there to read.
    }
  }

  #play(sound) {
    const source = new AudioBufferSourceNode(this.#context, { buffer: sound });
    source.connect(this.#context.destination);
    source.addEventListener("ended", () => {
      this.#playing.delete(source);
      this.#onChange();
    });
    this.#playing.add(source);
    this.#freeAt = Math.max(this.#context.currentTime, this.#freeAt);
    source.start(this.#freeAt);
    this.#freeAt += sound.duration;
  }
}

/** Decode standard base64. */
export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer;
}
