// The press or drag of a link in the sidebar or bottom bar. A redraw would remove the link and lose it.

export class Press {
  #isPressed = false;
  #isDragging = false;

  /** @param {() => void} onEnd called after a press or drag */
  constructor(onEnd) {
    this.onEnd = onEnd;
    addEventListener('pointerdown', ({ target }) => {
      this.#isPressed = !!target.closest?.('.sidebar, .bottom-bar');
    });
    for (const name of ['pointerup', 'pointercancel'])
      addEventListener(name, () => {
        if (!this.#isPressed) return;
        this.#isPressed = false;
        // The click follows.
        setTimeout(onEnd);
      });
  }

  get isHeld() {
    return this.#isPressed || this.#isDragging;
  }

  /** Begins a drag. The browser cancels its pointer. @returns {AbortSignal} aborted at its end */
  drag() {
    const ending = new AbortController();
    const { signal } = ending;
    this.#isDragging = true;
    const end = () => {
      ending.abort();
      this.#isDragging = false;
      this.onEnd();
    };
    for (const name of ['dragend', 'pointerdown']) addEventListener(name, end, { signal });
    return signal;
  }
}
