/** The JSON text of a run's result. Throws a `TypeError` for what JSON can't hold. */
export function resultJson(value: unknown): string {
  // Without a value for functions, symbols and undefined, whatever its type says.
  const json: string | undefined = JSON.stringify(value);
  if (json !== undefined) return json;
  throw new TypeError(
    `agent.control.setResult takes what JSON can hold (null for nothing), but this is ${typeof value}.`,
  );
}
