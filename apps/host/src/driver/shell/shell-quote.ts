/** One argument for the phone's shell. Everything inside single quotes is literal to it. */
export function shellQuote(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}
