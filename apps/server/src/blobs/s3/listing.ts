import { SaxesParser } from 'saxes';

/** A page of what a bucket has below a prefix. */
export interface Listing {
  readonly keys: readonly string[];
  /** With a slash at the end. */
  readonly folders: readonly string[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
}

/** Reads an answer to `ListObjectsV2`. Throws when it is no XML. */
export function parseListing(xml: string): Listing {
  const texts = textsByPath(xml);
  return {
    keys: texts.get('ListBucketResult/Contents/Key') ?? [],
    folders: texts.get('ListBucketResult/CommonPrefixes/Prefix') ?? [],
    next: texts.get('ListBucketResult/NextContinuationToken')?.[0],
  };
}

/** What an answer to `DeleteObjects` says of those that are still there: the codes. */
export const parseFailedDeletions = (xml: string): readonly string[] =>
  textsByPath(xml).get('DeleteResult/Error/Code') ?? [];

function textsByPath(xml: string): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  const path: string[] = [];
  let text = '';
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    path.push(name);
    text = '';
  });
  parser.on('text', (part) => (text += part));
  parser.on('closetag', () => {
    const name = path.join('/');
    texts.set(name, [...(texts.get(name) ?? []), text]);
    path.pop();
    text = '';
  });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(xml).close();
  return texts;
}
