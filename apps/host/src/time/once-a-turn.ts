/** Returns a function that runs `work` once at the end of this turn of the event loop, however often it is called. */
export function onceATurn(work: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      work();
    });
  };
}
