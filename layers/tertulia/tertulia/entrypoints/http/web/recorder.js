/** The microphone: one recording at a time, with its level while it runs. */

const KINDS = ["audio/webm;codecs=opus", "audio/mp4", "audio/ogg;codecs=opus"];
const LONGEST_MS = 5 * 60_000;

/** A recording that is being made. */
export class Recording {
  #stream;
  #recorder;
  #pieces = [];
  #context = new AudioContext();
  #limit = 0;
  #drawing = 0;
  #startedAt = performance.now();

  constructor(stream, onTick, onLimit) {
    const kind = KINDS.find((one) => MediaRecorder.isTypeSupported(one));
    this.#stream = stream;
    this.#recorder = new MediaRecorder(stream, kind ? { mimeType: kind } : {});
    this.#recorder.addEventListener("dataavailable", ({ data }) => this.#pieces.push(data));
    this.#recorder.start();
    this.#limit = setTimeout(onLimit, LONGEST_MS);
    this.#measure(onTick);
  }

  /** Ask for the microphone and start; `onTick(level, seconds)` is called with each frame. */
  static async start(onTick, onLimit) {
    const wishes = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
    return new Recording(await navigator.mediaDevices.getUserMedia({ audio: wishes }), onTick, onLimit);
  }

  /** End the recording, let go of the microphone and return what was recorded. */
  async stop() {
    const ended = new Promise((resolve) => this.#recorder.addEventListener("stop", resolve, { once: true }));
    if (this.#recorder.state !== "inactive") {
      this.#recorder.stop();
      await ended;
    }
    clearTimeout(this.#limit);
    cancelAnimationFrame(this.#drawing);
    for (const track of this.#stream.getTracks()) track.stop();
    this.#context.close().catch(() => {});
    return new Blob(this.#pieces, { type: this.#recorder.mimeType });
  }

  #measure(onTick) {
    const analyser = new AnalyserNode(this.#context, { fftSize: 512, smoothingTimeConstant: 0.6 });
    const samples = new Float32Array(analyser.fftSize);
    this.#context.createMediaStreamSource(this.#stream).connect(analyser);
    const draw = () => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
      onTick(Math.min(1, Math.sqrt(power) * 5), (performance.now() - this.#startedAt) / 1000);
      this.#drawing = requestAnimationFrame(draw);
    };
    draw();
  }
}
