import { calls } from './calls';

const textOf = (value: FormDataEntryValue): string => (typeof value === 'string' ? value : value.name);

/** Checks blobs, files, forms, and the streams of their bytes. */
export async function forms(): Promise<void> {
  const blob = new Blob(['hello'], { type: 'text/plain' });
  await calls<Blob>('Blob', {
    size: () => blob.size === 5,
    type: () => blob.type === 'text/plain',
    arrayBuffer: async () => (await blob.arrayBuffer()).byteLength === 5,
    bytes: async () => (await blob.bytes())[0] === 104,
    slice: async () => (await blob.slice(1, 3).text()) === 'el',
    stream: async () => (await blob.stream().getReader().read()).value?.join() === '104,101,108,108,111',
    text: async () => (await blob.text()) === 'hello',
  });
  await calls<BlobPropertyBag>('BlobPropertyBag', {
    type: () => new Blob([], { type: 'A/b' }).type === 'a/b',
    endings: () => new Blob(['a\r\nb'], { endings: 'native' }).size === 3,
  });
  const file = new File(['x'], 'x.txt', { lastModified: 5 });
  await calls<Omit<File, keyof Blob>>('File', {
    name: () => file.name === 'x.txt',
    lastModified: () => file.lastModified === 5,
  });
  await calls<Pick<FilePropertyBag, 'lastModified'>>('FilePropertyBag', {
    lastModified: () => new File([], 'x', { lastModified: 1 }).lastModified === 1,
  });
  const form = (): FormData => {
    const own = new FormData();
    own.append('a', '1');
    own.append('b', '2');
    own.append('a', '3');
    return own;
  };
  const edited = (edit: (form: FormData) => void): string => {
    const own = form();
    edit(own);
    return Array.from(own, ([name, value]) => `${name},${textOf(value)}`).join(';');
  };
  await calls<FormData>('FormData', {
    append: () => edited((own) => own.append('c', blob, 'c.txt')).endsWith('c,c.txt'),
    delete: () => edited((own) => own.delete('a')) === 'b,2',
    get: () => form().get('a') === '1' && form().get('z') === null,
    getAll: () => form().getAll('a').map(textOf).join() === '1,3',
    has: () => form().has('b') && !form().has('z'),
    set: () => edited((own) => own.set('a', '9')) === 'a,9;b,2',
    forEach: () => {
      const seen: string[] = [];
      form().forEach((value, name) => seen.push(name + textOf(value)));
      return seen.join() === 'a1,b2,a3';
    },
    entries: () => [...form().entries()].length === 3,
    keys: () => [...form().keys()].join() === 'a,b,a',
    values: () => [...form().values()].map(textOf).join() === '1,2,3',
    [Symbol.iterator]: () => [...form()].length === 3,
  });
  await calls<ReadableStream>('ReadableStream', {
    locked: () => {
      const stream = blob.stream();
      stream.getReader();
      return stream.locked && !blob.stream().locked;
    },
    getReader: async () => (await blob.stream().getReader().read()).value?.length === 5,
    cancel: async () => {
      const stream = blob.stream();
      await stream.cancel();
      return (await stream.getReader().read()).done;
    },
    [Symbol.asyncIterator]: async () => {
      for await (const piece of blob.stream()) if (piece.length !== 5) return false;
      return true;
    },
  });
  await calls<ReadableStreamDefaultReader<Uint8Array>>('ReadableStreamDefaultReader', {
    closed: async () => {
      const reader = blob.stream().getReader();
      await reader.cancel();
      return (await reader.closed) === undefined;
    },
    read: async () => (await new Blob().stream().getReader().read()).done,
    releaseLock: () => {
      const stream = blob.stream();
      stream.getReader().releaseLock();
      return !stream.locked;
    },
    cancel: async () => {
      const reader = blob.stream().getReader();
      await reader.cancel();
      return (await reader.read()).done;
    },
  });
}
