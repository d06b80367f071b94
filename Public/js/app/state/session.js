// The start of a session from the cache, and its requests that need a proof.

/** Resolves when the cache has content, or when the connection has failed without any. */
export function contentOf(site) {
  const { parley } = site;
  const isDone = () =>
    parley.mirror.cursor !== null || (site.connection && ['offline', 'stopped'].includes(site.connection));
  if (isDone()) return undefined;
  return new Promise((resolve) => {
    const ends = [];
    const look = () => {
      if (!isDone()) return;
      for (const end of ends) end();
      resolve();
    };
    ends.push(parley.on('change', look), parley.on('state', look));
  });
}

/** Repeats a request that needs a new proof, after the user has given it. */
export function withProof(site, client) {
  const call = client.call.bind(client);
  client.call = (...request) =>
    call(...request).catch(async (error) => {
      if (error.code !== 'step_up_required' || !(await site.prove?.(error))) throw error;
      return call(...request);
    });
  return client;
}
