// The forum or conversation of an open page, which may go meanwhile: deleted, made private, or left.

/**
 * Ends the open page once the server says that its subject is gone. Returns the function that ends the watch.
 * @param {'forums' | 'conversations'} table of the cache
 */
export function watchSubject(shell, table, id) {
  const { site } = shell;
  const isHeld = () => !!site.parley?.mirror[table].has(id);
  let wasHeld = isHeld();
  let isOver = false;
  const unlisten = site.listen(['forums', 'conversations'], async () => {
    const isLost = wasHeld && !isHeld();
    wasHeld = isHeld();
    if (!isLost || !site.parley) return;
    try {
      // The cache may only fetch it again.
      await site.call('GET', `/${table}/${id}`);
    } catch (error) {
      if ([403, 404, 410].includes(error.status) && !isOver) shell.fail(error);
    }
  });
  return () => {
    isOver = true;
    unlisten();
  };
}
