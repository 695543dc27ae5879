const plain = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};
const cell = (value: unknown): string => {
  const text = plain(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A row of RFC 4180: a value that is no text is JSON, and one that is missing is empty. */
export const csvLine = (row: readonly unknown[]): string => `${row.map(cell).join(',')}\r\n`;
