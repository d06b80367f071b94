// A press or drag in a part of the page. A redraw meanwhile would remove the pressed node, which then gets no click.

export class Press {
  #isPressed = false;
  #isDragging = false;

  /**
   * @param {(target: any) => unknown} isInside whether an element belongs to the part
   * @param {() => void} onEnd called after a press or drag
   * @param {AbortSignal} [signal] the end of the part
   */
  constructor(isInside, onEnd, signal) {
    this.onEnd = onEnd;
    addEventListener('pointerdown', ({ target }) => (this.#isPressed = !!isInside(target)), { signal });
    for (const name of ['pointerup', 'pointercancel'])
      addEventListener(name, () => {
        if (!this.#isPressed) return;
        this.#isPressed = false;
        // The click follows.
        setTimeout(onEnd);
      }, { signal });
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
