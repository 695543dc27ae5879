export function stringAt(value: unknown, key: string): string {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  if (typeof found !== 'string') throw new Error(`no ${key} in ${JSON.stringify(value)}`);
  return found;
}
