const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const page = (title: string, body: string, head = ''): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">${head}<title>${title}</title></head>
<body>${body}</body></html>
`;

/** Looks again by itself; the API does not wait for the console. */
export const buildingPage = page(
  'Phalanx',
  '<p>The console is being made ready; this takes a few seconds after its sources have changed.</p>',
  '<meta http-equiv="refresh" content="1">',
);

export const failedPage = (reason: string): string =>
  page(
    'Phalanx',
    `<p>The console could not be built. The API works; see <a href="/docs">/docs</a>.</p><pre>${escape(reason)}</pre>`,
  );
