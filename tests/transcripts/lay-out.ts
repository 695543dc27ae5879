const lineLength = 110;

/** Formats JSON with one line per field, except for values that fit into one line. */
export function layOut(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || line.length + indent.length <= lineLength) return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const fields = Object.entries(value).map(([key, one]: [string, unknown]) => {
    const name = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `;
    return `${inner}${name}${layOut(one, inner)}`;
  });
  return `${open}\n${fields.join(',\n')}\n${indent}${close}`;
}
