import { calls, holds, thrown } from './calls';

/** Checks requests and responses with headers and bodies. */
export async function bodies(url: string): Promise<void> {
  const headers = (): Headers => new Headers({ a: '1', b: '2' });
  const edited = (edit: (headers: Headers) => void): string => {
    const own = headers();
    edit(own);
    return [...own].join(';');
  };
  await calls<Headers>('Headers', {
    append: () => edited((own) => own.append('a', '3')) === 'a,1, 3;b,2',
    delete: () => edited((own) => own.delete('A')) === 'b,2',
    get: () => headers().get('B') === '2' && headers().get('z') === null,
    getSetCookie: () => new Headers([['set-cookie', 'x=1']]).getSetCookie().join() === 'x=1',
    has: () => headers().has('A') && !headers().has('z'),
    set: () => edited((own) => own.set('a', '9')) === 'a,9;b,2',
    forEach: () => {
      const seen: string[] = [];
      headers().forEach((value, name) => seen.push(name + value));
      return seen.join() === 'a1,b2';
    },
    entries: () => [...headers().entries()].join(';') === 'a,1;b,2',
    keys: () => [...headers().keys()].join() === 'a,b',
    values: () => [...headers().values()].join() === '1,2',
    [Symbol.iterator]: () => [...headers()].length === 2,
  });
  const response = (): Response =>
    new Response('{"a":1}', { status: 201, statusText: 'Made', headers: { a: '1' } });
  await calls<Body>('Body', {
    bodyUsed: async () => {
      const own = response();
      const before = own.bodyUsed;
      await own.text();
      return !before && own.bodyUsed;
    },
    text: async () => (await response().text()) === '{"a":1}',
    json: async () => (await response().json()).a === 1,
    arrayBuffer: async () => (await response().arrayBuffer()).byteLength === 7,
    bytes: async () => (await response().bytes()).length === 7,
    body: async () => {
      let size = 0;
      for await (const piece of response().body ?? []) size += piece.length;
      return size === 7 && new Response().body === null;
    },
    blob: async () => (await new Response('x', { headers: { 'content-type': 'a/b' } }).blob()).type === 'a/b',
    formData: async () => (await new Response(new URLSearchParams('a=1')).formData()).get('a') === '1',
  });
  const got = await fetch(`${url}/healthz`);
  await calls<Omit<Response, keyof Body>>('Response', {
    url: () => got.url === `${url}/healthz`,
    status: () => got.status === 200 && response().status === 201,
    statusText: () => response().statusText === 'Made',
    ok: () => got.ok && !new Response('', { status: 404 }).ok,
    redirected: () => !got.redirected,
    type: () => got.type === 'basic' && response().type === 'default',
    headers: () => got.headers.get('content-type')?.startsWith('application/json') === true,
    clone: async () => (await got.clone().json()).success === true && !got.bodyUsed,
  });
  await calls<typeof Response>('Response', {
    json: async () => (await Response.json([1]).text()) === '[1]',
    error: () => Response.error().status === 0,
    redirect: () =>
      Response.redirect('https://example.com/', 301).headers.get('location') === 'https://example.com/',
  });
  await calls<ResponseInit>('ResponseInit', {
    status: () => new Response('', { status: 202 }).status === 202,
    statusText: () => new Response('', { statusText: 'x' }).statusText === 'x',
    headers: () => new Response('', { headers: { x: 'y' } }).headers.get('x') === 'y',
  });
  const request = new Request(`${url}/healthz`, {
    method: 'PUT',
    headers: { a: '1' },
    body: 'text',
    redirect: 'error',
  });
  await calls<Omit<Request, keyof Body>>('Request', {
    url: () => request.url === `${url}/healthz`,
    method: () => request.method === 'PUT',
    headers: () => request.headers.get('a') === '1',
    redirect: () => request.redirect === 'error',
    signal: () => !request.signal.aborted,
    clone: async () => (await request.clone().text()) === 'text',
  });
  const accepted = async (init: RequestInit): Promise<boolean> => (await fetch(`${url}/healthz`, init)).ok;
  await calls<RequestInit>('RequestInit', {
    method: async () => (await fetch(`${url}/healthz`, { method: 'DELETE' })).status === 405,
    headers: () => new Request(url, { headers: [['a', '2']] }).headers.get('a') === '2',
    body: async () =>
      (await new Request(url, { method: 'POST', body: new URLSearchParams('a=1') }).text()) === 'a=1',
    redirect: async () => (await fetch(`${url}/healthz`, { redirect: 'manual' })).status === 200,
    cache: () => accepted({ cache: 'no-store' }),
    credentials: () => accepted({ credentials: 'include' }),
    keepalive: () => accepted({ keepalive: true }),
    mode: () => accepted({ mode: 'cors' }),
    referrer: () => accepted({ referrer: '' }),
    signal: async () =>
      (await thrown(() => fetch(url, { signal: AbortSignal.abort() }))) instanceof DOMException,
  });
  await holds('fetch', async () => (await fetch(new Request(`${url}/readyz`))).ok);
}
