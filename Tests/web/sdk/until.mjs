/** Polls until `holds` returns a truthy value; throws with `description` after a timeout. */
export async function until(holds, description, milliseconds = 60_000) {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const found = await holds();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${description}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
