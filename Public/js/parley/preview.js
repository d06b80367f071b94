// Thumbnails for lists. The client makes them, because the server never decodes images.

/** The longest side in pixels, and the most bytes. */
const longest = 1_280;
const maxBytes = 200_000;

/**
 * Returns a thumbnail; null if the file is not an image or the browser cannot decode it.
 * @param {Blob} blob @returns {Promise<Blob | null>}
 */
export async function previewOf(blob) {
  const { document, createImageBitmap } = globalThis;
  if (!blob.type.startsWith('image/') || blob.type === 'image/svg+xml' || !document || !createImageBitmap) return null;
  let bitmap;
  try {
    bitmap = await createImageBitmap(blob);
  } catch {
    // The browser can't decode the file: it is sent like other files.
    return null;
  }
  const scale = Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  // Not every browser writes WebP; one that doesn't gives another form.
  for (const type of ['image/webp', 'image/jpeg']) {
    for (const quality of [0.8, 0.5]) {
      /** @type {Blob | null} */
      const small = await new Promise((resolve) => canvas.toBlob(resolve, type, quality));
      if (small?.type === type && small.size <= maxBytes) return small;
    }
  }
  return null;
}
