/** Resolves at the first SIGINT, SIGTERM or SIGHUP. A second one ends the process at once, as signals do. */
export function untilSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const onSignal = (signal: NodeJS.Signals): void => {
    for (const name of signals) process.off(name, onSignal);
    resolve(signal);
  };
  for (const name of signals) process.on(name, onSignal);
  return promise;
}
