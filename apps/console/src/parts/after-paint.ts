/** Calls back once the frame that is drawn next has been painted. Returns the function that gives it up. */
export function afterPaint(work: () => void): () => void {
  let timer: number | undefined;
  const frame = requestAnimationFrame(() => (timer = window.setTimeout(work)));
  return () => {
    cancelAnimationFrame(frame);
    window.clearTimeout(timer);
  };
}
