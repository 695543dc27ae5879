/** How many lines have each kind of quotes says which one the file prefers. */
function prefersSingleQuotes(text: string): boolean {
  return (text.match(/'/g)?.length ?? 0) >= (text.match(/"/g)?.length ?? 0);
}

/** Code or JSON as Prettier writes it. Throws what it says of text that does not parse. */
export async function formatCode(path: string, text: string): Promise<string> {
  const [{ format }, babel, estree] = await Promise.all([
    import('prettier/standalone'),
    import('prettier/plugins/babel'),
    import('prettier/plugins/estree'),
  ]);
  return format(text, {
    parser: path.endsWith('.json') ? 'json' : 'babel-ts',
    plugins: [babel, estree],
    printWidth: 100,
    singleQuote: prefersSingleQuotes(text),
  });
}
