// The pictures of posts, opened in place.

/** Opens pressed pictures of a list in the viewer. Returns a function that ends that. */
export function openPictures(node) {
  const press = async (event) => {
    const link = event.target.closest?.('a.picture');
    if (!link) return;
    event.preventDefault();
    const all = [...link.closest('article').querySelectorAll('a.picture')];
    const { viewLinks } = await import('../parts/media/viewer.js');
    viewLinks(all, link);
  };
  node.addEventListener('click', press);
  return () => node.removeEventListener('click', press);
}
