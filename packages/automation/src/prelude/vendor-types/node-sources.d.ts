/** Source file of Node as a function with Node's parameters; `undefined` for an unknown name. */
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
/** Fills `primordials` with the current functions of the language, protected from later changes. */
export function fillPrimordials(
  exports: object,
  primordials: object,
  privateSymbols: object,
  perIsolateSymbols: object,
): void;
