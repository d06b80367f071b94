/** The fault of an address without a page. */
export const notFound = () => Object.assign(new Error('No such page'), { code: 'not_found' });

export async function open() {
  throw notFound();
}
