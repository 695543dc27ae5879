const plain = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};
/** Whether spreadsheets take the text for a formula. A number is not a formula. */
const isFormula = (text: string): boolean => /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text);

const cell = (value: unknown): string => {
  const given = plain(value);
  const text = typeof value === 'string' && isFormula(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * A row of RFC 4180: a value that is no text is JSON, one that is missing is empty, and a text that begins as a formula
 * gets a `'` before it. The formula guard of `csv-stringify` would change numbers that are texts, too.
 */
export const csvLine = (row: readonly unknown[]): string => `${row.map(cell).join(',')}\r\n`;
