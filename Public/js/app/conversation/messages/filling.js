// The messages of a list without a scroll bar, where the user could not ask for more: on a high screen, or where deleted messages
// leave no line.

/** A stream holds 150 messages. One more page would drop others. */
const MAX = 100;

/** Returns a function that loads pages until they fill the view. After a failure it stops. */
export function filling(view) {
  const { node, stream } = view;
  let hasFailed = false;
  const hasRoom = () => node.clientHeight > 0 && node.scrollHeight <= node.clientHeight && stream.messages.length <= MAX;
  return async () => {
    try {
      while (!hasFailed && hasRoom() && !stream.isBusy && (stream.hasNewer || stream.hasOlder)) {
        await (stream.hasNewer ? stream.newer() : stream.older());
        view.settle();
      }
    } catch {
      hasFailed = true;
    }
  };
}
