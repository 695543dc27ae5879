/** The part of node-inspect-extracted that the prelude uses; its own types would bring all of Node's globals in. */
export function inspect(value: unknown, options?: Record<string, unknown>): string;
export function formatWithOptions(options: Record<string, unknown>, ...args: unknown[]): string;
declare const util: {
  /** Columns of a terminal that the text takes. */
  getStringWidth(text: string): number;
};
// oxlint-disable-next-line import/no-default-export -- as the library has it
export default util;
