/** Files of Node itself, as functions with the parameters that Node gives them; `undefined` for any other name. */
// oxlint-disable-next-line max-params -- as Node has it
export type NodeSource = (
  exports: object,
  require: (name: string) => unknown,
  module: { exports: unknown },
  process: unknown,
  internalBinding: (name: string) => unknown,
  primordials: object,
) => void;
export const nodeSources: Readonly<Record<string, NodeSource | undefined>>;
/** Fills `primordials` with what the language has now, whatever becomes of it later. */
export function fillPrimordials(
  exports: object,
  primordials: object,
  privateSymbols: object,
  perIsolateSymbols: object,
): void;
