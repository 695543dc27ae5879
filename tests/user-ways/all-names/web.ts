import { calls, holds, thrown } from './calls';
import { bodies } from './bodies';
import { forms } from './forms';

const sameBytes = (bytes: Uint8Array, ...expected: number[]): boolean => bytes.join() === expected.join();

async function urls(): Promise<void> {
  const url = new URL('https://ada:secret@example.com:8443/a/b?x=1&y=2#top');
  await calls<URL>('URL', {
    hash: () => url.hash === '#top',
    host: () => url.host === 'example.com:8443',
    hostname: () => url.hostname === 'example.com',
    href: () => new URL('/c', url).href === 'https://ada:secret@example.com:8443/c',
    origin: () => url.origin === 'https://example.com:8443',
    password: () => url.password === 'secret',
    pathname: () => url.pathname === '/a/b',
    port: () => url.port === '8443',
    protocol: () => url.protocol === 'https:',
    search: () => url.search === '?x=1&y=2',
    searchParams: () => url.searchParams.get('y') === '2',
    username: () => url.username === 'ada',
    toString: () => url.toString() === url.href,
    toJSON: () => JSON.stringify({ url }) === `{"url":"${url.href}"}`,
  });
  await calls<typeof URL>('URL', {
    canParse: () => URL.canParse('/x', 'https://example.com') && !URL.canParse('nothing'),
    parse: () => URL.parse('https://example.com/x')?.pathname === '/x' && URL.parse('nothing') === null,
  });
  const params = (): URLSearchParams => new URLSearchParams('b=2&a=1&a=3');
  const edited = (edit: (params: URLSearchParams) => void): string => {
    const own = params();
    edit(own);
    return own.toString();
  };
  await calls<URLSearchParams>('URLSearchParams', {
    size: () => params().size === 3,
    append: () => edited((own) => own.append('c', 'ü')) === 'b=2&a=1&a=3&c=%C3%BC',
    delete: () => edited((own) => own.delete('a', '1')) === 'b=2&a=3',
    get: () => params().get('a') === '1' && params().get('z') === null,
    getAll: () => params().getAll('a').join() === '1,3',
    has: () => params().has('a', '3') && !params().has('z'),
    set: () => edited((own) => own.set('a', '9')) === 'b=2&a=9',
    sort: () => edited((own) => own.sort()) === 'a=1&a=3&b=2',
    toString: () => new URLSearchParams({ q: 'a b' }).toString() === 'q=a+b',
    forEach: () => {
      const seen: string[] = [];
      params().forEach((value, name) => seen.push(name + value));
      return seen.join() === 'b2,a1,a3';
    },
    entries: () => [...params().entries()].join(';') === 'b,2;a,1;a,3',
    keys: () => [...params().keys()].join() === 'b,a,a',
    values: () => [...params().values()].join() === '2,1,3',
    [Symbol.iterator]: () => [...params()].length === 3,
  });
}

async function texts(): Promise<void> {
  const encoder = new TextEncoder();
  await calls<TextEncoder>('TextEncoder', {
    encoding: () => encoder.encoding === 'utf-8',
    encode: () => sameBytes(encoder.encode('é'), 0xc3, 0xa9),
    encodeInto: () => {
      const target = new Uint8Array(3);
      const { read, written } = encoder.encodeInto('ab', target);
      return read === 2 && written === 2 && sameBytes(target, 97, 98, 0);
    },
  });
  await calls<TextEncoderEncodeIntoResult>('TextEncoderEncodeIntoResult', {
    read: () => encoder.encodeInto('é', new Uint8Array(4)).read === 1,
    written: () => encoder.encodeInto('é', new Uint8Array(4)).written === 2,
  });
  await calls<TextDecoderOptions>('TextDecoderOptions', {
    fatal: async () =>
      (await thrown(() => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])))) instanceof
      TypeError,
    ignoreBOM: () =>
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf])) === '\ufeff',
  });
  await calls<TextDecodeOptions>('TextDecodeOptions', {
    stream: () => new TextDecoder().decode(new Uint8Array([0xc3]), { stream: true }) === '',
  });
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  await calls<TextDecoder>('TextDecoder', {
    encoding: () => new TextDecoder('latin1').encoding === 'windows-1252',
    fatal: () => decoder.fatal,
    ignoreBOM: () => decoder.ignoreBOM,
    decode: () => new TextDecoder().decode(new Uint8Array([0xf0, 0x9f, 0xa6, 0xb4])) === '🦴',
  });
}

async function events(): Promise<void> {
  const event = new Event('ready', { cancelable: true });
  const seen: string[] = [];
  const target = new EventTarget();
  await calls<EventTarget>('EventTarget', {
    addEventListener: () => {
      target.addEventListener('ready', (one) => void seen.push(one.type), { once: true });
      return true;
    },
    dispatchEvent: () => target.dispatchEvent(new Event('ready')) && seen.join() === 'ready',
    removeEventListener: () => {
      const listener = (): void => void seen.push('removed');
      target.addEventListener('ready', listener);
      target.removeEventListener('ready', listener);
      target.dispatchEvent(new Event('ready'));
      return seen.join() === 'ready';
    },
  });
  await calls<Event>('Event', {
    type: () => event.type === 'ready',
    target: () => {
      let found: EventTarget | null = null;
      target.addEventListener('where', (one) => void (found = one.target), { once: true });
      target.dispatchEvent(new Event('where'));
      return found === target && event.target === null;
    },
    preventDefault: () => {
      target.addEventListener('ready', (one) => one.preventDefault(), { once: true });
      return !target.dispatchEvent(event);
    },
    defaultPrevented: () => event.defaultPrevented,
    currentTarget: () => {
      let found: EventTarget | null = null;
      target.addEventListener('current', (one) => void (found = one.currentTarget), { once: true });
      target.dispatchEvent(new Event('current'));
      return found === target;
    },
    bubbles: () => !event.bubbles && new Event('x', { bubbles: true }).bubbles,
    cancelable: () => event.cancelable && !new Event('x').cancelable,
    composed: () => !event.composed && new Event('x', { composed: true }).composed,
    isTrusted: () => !event.isTrusted,
    timeStamp: () => event.timeStamp > 0 && event.timeStamp <= performance.now(),
    stopPropagation: () => event.stopPropagation() === undefined,
    stopImmediatePropagation: () => {
      const own = new EventTarget();
      const told: number[] = [];
      own.addEventListener('ready', (one) => one.stopImmediatePropagation());
      own.addEventListener('ready', () => void told.push(1));
      own.dispatchEvent(new Event('ready'));
      return told.length === 0;
    },
  });
  await calls<EventInit>('EventInit', {
    bubbles: () => new Event('x', { bubbles: true }).bubbles,
    cancelable: () => new Event('x', { cancelable: true }).cancelable,
    composed: () => new Event('x', { composed: true }).composed,
  });
  await calls<Pick<CustomEvent<number>, 'detail'>>('CustomEvent', {
    detail: () => new CustomEvent('x', { detail: 1 }).detail === 1,
  });
  await calls<Pick<CustomEventInit<string>, 'detail'>>('CustomEventInit', {
    detail: () => new CustomEvent<string>('x', { detail: 'y' }).detail === 'y',
  });
  const heard = (options: AddEventListenerOptions, times: number): number => {
    const own = new EventTarget();
    let count = 0;
    own.addEventListener('x', () => void (count += 1), options);
    for (let time = 0; time < times; time += 1) own.dispatchEvent(new Event('x'));
    return count;
  };
  await calls<EventListenerObject>('EventListenerObject', {
    handleEvent: () => {
      const own = new EventTarget();
      let type = '';
      own.addEventListener('x', { handleEvent: (one) => void (type = one.type) });
      return own.dispatchEvent(new Event('x')) && type === 'x';
    },
  });
  await calls<EventListenerOptions>('EventListenerOptions', {
    capture: () => heard({ capture: true }, 2) === 2,
  });
  await calls<Omit<AddEventListenerOptions, 'capture'>>('AddEventListenerOptions', {
    once: () => heard({ once: true }, 2) === 1,
    passive: () => heard({ passive: true }, 1) === 1,
    signal: () => heard({ signal: AbortSignal.abort() }, 1) === 0,
  });
  const controller = new AbortController();
  await calls<AbortController>('AbortController', {
    signal: () => !controller.signal.aborted,
    abort: () => {
      controller.abort('enough');
      return controller.signal.aborted;
    },
  });
  const { signal } = controller;
  await calls<AbortSignal>('AbortSignal', {
    aborted: () => signal.aborted,
    reason: () => signal.reason === 'enough',
    onabort: () => {
      const own = new AbortController();
      let told = false;
      own.signal.onabort = () => void (told = true);
      own.abort();
      return told;
    },
    throwIfAborted: async () => (await thrown(() => signal.throwIfAborted())) === 'enough',
    addEventListener: () =>
      new Promise((resolve) => {
        AbortSignal.timeout(1).addEventListener('abort', () => resolve(true));
      }),
    removeEventListener: () => {
      const own = new AbortController();
      let told = false;
      const listener = { handleEvent: () => void (told = true) };
      own.signal.addEventListener('abort', listener);
      own.signal.removeEventListener('abort', listener);
      own.abort();
      return !told;
    },
    dispatchEvent: () => new AbortController().signal.dispatchEvent(new Event('x')),
  });
  await calls<typeof AbortSignal>('AbortSignal', {
    abort: () => AbortSignal.abort('now').reason === 'now',
    timeout: () => !AbortSignal.timeout(1000).aborted,
    any: () => AbortSignal.any([signal, AbortSignal.timeout(1000)]).aborted,
  });
  await calls<Pick<DOMException, 'code'>>('DOMException', {
    code: () => new DOMException('no', 'AbortError').code === 20,
  });
}

async function made(): Promise<void> {
  await holds('Event', () => new Event('x') instanceof Event);
  await holds('EventTarget', () => new EventTarget() instanceof EventTarget);
  await holds('AbortController', () => new AbortController() instanceof AbortController);
  await holds('AbortSignal', () => AbortSignal.abort() instanceof EventTarget);
  await holds('DOMException', () => new DOMException() instanceof Error);
  await holds('CustomEvent', () => new CustomEvent('x') instanceof Event);
  await holds('Blob', () => new Blob() instanceof Blob);
  await holds('File', () => new File([], 'x') instanceof Blob);
  await holds('FormData', () => new FormData() instanceof FormData);
  await holds('Headers', () => new Headers() instanceof Headers);
  await holds('Request', () => new Request('https://example.com') instanceof Request);
  await holds('Response', () => new Response() instanceof Response);
  await holds('TextDecoder', () => new TextDecoder() instanceof TextDecoder);
  await holds('TextEncoder', () => new TextEncoder() instanceof TextEncoder);
  await holds('URL', () => new URL('https://example.com') instanceof URL);
  await holds('URLSearchParams', () => new URLSearchParams() instanceof URLSearchParams);
}

export async function web(url: string): Promise<void> {
  await urls();
  await texts();
  await events();
  await bodies(url);
  await forms();
  await made();
}
