/** Waits until something holds, and says what was waited for when it does not. */
export async function until(holds, what, milliseconds = 60_000) {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const found = await holds();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
