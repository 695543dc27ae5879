import { gzipSync } from 'node:zlib';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import fc, { type Arbitrary } from 'fast-check';

import { hostileText, hostileValue } from './hostile-values.ts';
import { SchemaValues } from './schema-values.ts';

const Parameter = Type.Object({
  name: Type.String(),
  in: Type.Enum(['path', 'query', 'header']),
  required: Type.Boolean(),
  schema: Type.Unknown(),
});
type Parameter = Static<typeof Parameter>;
const Operation = Type.Object({
  operationId: Type.String(),
  parameters: Type.Array(Parameter),
  requestBody: Type.Optional(
    Type.Object({ content: Type.Record(Type.String(), Type.Object({ schema: Type.Unknown() })) }),
  ),
});
type Operation = Static<typeof Operation>;
/** Fields of the service's OpenAPI document that are used. */
const Document = Type.Object({
  paths: Type.Record(Type.String(), Type.Record(Type.String(), Operation)),
  components: Type.Object({ schemas: Type.Record(Type.String(), Type.Unknown()) }),
});

/** Request to send; `caller` is an index in the list of callers. */
export interface FuzzRequest {
  operation: string;
  caller: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** Existing IDs that requests may name, by kind of object. */
export type Known = Readonly<
  Record<'project' | 'device' | 'host' | 'user' | 'token' | 'run' | 'launch' | 'path', readonly string[]>
>;

/** Operations that need the compiler, git, or a run; a service handles few of them per second. */
const costly = new Set([
  'launchAutomation',
  'launchDirectAutomation',
  'writeFile',
  'replaceFiles',
  'commit',
  'revert',
  'createProject',
  'deleteFile',
]);
const costlyWeight = 1;
const defaultWeight = 12;

const kinds: readonly [RegExp, keyof Known][] = [
  [/project/, 'project'],
  [/device/, 'device'],
  [/host/, 'host'],
  [/user|owner/, 'user'],
  [/token/, 'token'],
  [/launch|automation_id/, 'launch'],
  [/run/, 'run'],
  [/^(path|file)$/, 'path'],
];
/** Kind of object that an `id` in a path refers to. */
const ofPath: readonly [RegExp, keyof Known][] = [
  [/\/automation(-project)?\//, 'project'],
  [/\/devices\//, 'device'],
  [/\/hosts\//, 'host'],
  [/\/users\//, 'user'],
  [/\/tokens\//, 'token'],
  [/\/runs\//, 'run'],
];

function kindOf(field: string, path: string): keyof Known | undefined {
  if (field === 'id') return ofPath.find(([pattern]) => pattern.test(path))?.[1] ?? 'project';
  if (!field.endsWith('id') && field !== 'path') return undefined;
  return kinds.find(([pattern]) => pattern.test(field))?.[1];
}

/** Generates requests of every operation of the document: valid, nearly valid, and arbitrary. */
export function apiRequests(document: unknown, known: Known, callers: number): Arbitrary<FuzzRequest> {
  const { paths, components } = Value.Parse(Document, document);
  const all = Object.values(known).flat();
  const make = (path: string, method: string, operation: Operation) => {
    const values = new SchemaValues({
      component: (ref) => components.schemas[ref.slice('#/components/schemas/'.length)],
      known: (field) => {
        const kind = kindOf(field, path);
        if (kind === undefined) return undefined;
        const own = known[kind].length === 0 ? all : known[kind];
        return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...own) }, fc.constantFrom(...all));
      },
    });
    const weight = costly.has(operation.operationId) ? costlyWeight : defaultWeight;
    return { weight, arbitrary: requestsOf(values, { path, method, operation }, callers) };
  };
  return fc.oneof(
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => make(path, method, operation)),
    ),
  );
}

function requestsOf(
  values: SchemaValues,
  { path, method, operation }: { path: string; method: string; operation: Operation },
  callers: number,
): Arbitrary<FuzzRequest> {
  const parts = fc.tuple(
    fc.nat(callers - 1),
    parametersIn(operation, 'path', values),
    parametersIn(operation, 'query', values),
    parametersIn(operation, 'header', values),
    bodies(operation, values),
    fc.oneof({ weight: 30, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: strangeHeaders }),
    fc.oneof(
      { weight: 40, arbitrary: fc.constant(method) },
      fc.constantFrom('HEAD', 'OPTIONS', 'PATCH', 'DELETE', 'PUT', 'POST'),
    ),
  );
  return parts.map(([caller, inPath, query, headers, body, strange, sent]) => ({
    operation: operation.operationId,
    caller,
    method: sent.toUpperCase(),
    path: `${filledPath(path, inPath)}${queryText(query)}`,
    headers: sendable({ ...headers, ...body.headers, ...strange }),
    body: body.bytes,
  }));
}

type Fields = Record<string, unknown>;

function parametersIn(
  { parameters }: Operation,
  place: Parameter['in'],
  values: SchemaValues,
): Arbitrary<Fields> {
  const own = parameters.filter((one) => one.in === place);
  const fields = own.map(({ name, schema }): [string, Arbitrary<unknown>] => [
    name,
    fc.oneof({ weight: 6, arbitrary: values.fitting(schema, name) }, { weight: 1, arbitrary: hostileText }),
  ]);
  const isWhole = place === 'path';
  const requiredKeys = isWhole
    ? own.map(({ name }) => name)
    : own.filter((one) => one.required).map(({ name }) => name);
  const typical = fc.record(Object.fromEntries(fields), { requiredKeys });
  if (place !== 'query') return typical;
  const more = fc
    .tuple(typical, hostileText, hostileText)
    .map(([some, key, value]) => ({ ...some, [key]: value }));
  return fc.oneof({ weight: 12, arbitrary: typical }, { weight: 1, arbitrary: more });
}

const asText = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();

function filledPath(path: string, fields: Fields): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const text = asText(fields[name]);
    // Leaves every third text unencoded, as far as a request line permits.
    return text.length % 3 === 0
      ? text.replaceAll(/[^\x21-\x22\x24-\x3e\x40-\x7e]/g, '')
      : encodeURIComponent(text);
  });
}

function queryText(fields: Fields): string {
  const pairs = Object.entries(fields).map(
    ([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(asText(value))}`,
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Replaces characters that a header can't contain: no client can send them, so no server receives them. */
const sendable = (headers: Fields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      asText(value).replaceAll(/[^\x20-\x7e\x80-\xff]/g, '?'),
    ]),
  );

const strangeHeaders: Arbitrary<Fields> = fc.constantFrom<Fields>(
  { 'content-encoding': 'gzip' },
  { 'content-encoding': 'br, gzip' },
  { 'accept-encoding': 'gzip;q=0, *;q=nonsense' },
  { accept: 'text/html' },
  { range: 'bytes=9-1,0-' },
  { 'if-none-match': '*' },
  { 'if-match': '"x", W/' },
  { origin: 'https://evil.example' },
  { cookie: 'a=b; '.repeat(500) },
  { 'x-forwarded-for': '127.0.0.1, ::1, nonsense' },
  { 'x-http-method-override': 'DELETE' },
  { expect: 'the impossible' },
  { upgrade: 'h2c', connection: 'upgrade' },
  { authorization: 'Basic Og==' },
  { authorization: `Bearer ${'x'.repeat(4000)}` },
);

interface Body {
  headers: Fields;
  bytes: Buffer | null;
}

const contentTypes = fc.constantFrom(
  'text/plain',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/json;;;',
  '/',
);

function bodies({ requestBody }: Operation, values: SchemaValues): Arbitrary<Body> {
  const [type = 'application/json', content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const json = (arbitrary: Arbitrary<unknown>): Arbitrary<Body> =>
    arbitrary.map((value) => ({
      headers: { 'content-type': type },
      bytes: Buffer.from(JSON.stringify(value) ?? ''),
    }));
  const none = fc.constant<Body>({ headers: {}, bytes: null });
  const strange = fc.oneof(json(hostileValue), broken(type));
  if (content === undefined)
    return fc.oneof({ weight: 10, arbitrary: none }, { weight: 1, arbitrary: strange });
  return fc.oneof(
    { weight: 8, arbitrary: json(values.fitting(content.schema)) },
    { weight: 6, arbitrary: json(values.nearly(content.schema)) },
    { weight: 2, arbitrary: strange },
    { weight: 1, arbitrary: none },
    {
      weight: 1,
      arbitrary: fc
        .tuple(json(values.fitting(content.schema)), contentTypes)
        .map(([body, wrong]) => ({ ...body, headers: { 'content-type': wrong } })),
    },
  );
}

/** Invalid JSON bodies. */
const brokenBodies: readonly (readonly [Buffer, Fields])[] = [
  [Buffer.from('{"a":'), {}],
  [Buffer.from(''), {}],
  [Buffer.from('{"a":1}{"b":2}'), {}],
  [Buffer.from([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), {}],
  [Buffer.from([0x22, 0xc3, 0x28, 0x22]), {}],
  [Buffer.from('['.repeat(5000)), {}],
  [Buffer.from(`{${'"a":{'.repeat(500)}`), {}],
  [Buffer.from('1'.repeat(5000)), {}],
  [Buffer.from('{"a":1,"a":2,"__proto__":{"b":1}}'), {}],
  [gzipSync('{"name":"x"}'), { 'content-encoding': 'gzip' }],
  [gzipSync(Buffer.alloc(3_000_000)), { 'content-encoding': 'gzip' }],
  [Buffer.from('not gzip'), { 'content-encoding': 'gzip' }],
  [Buffer.from('{}'), { 'content-encoding': 'deflate' }],
];

const broken = (type: string): Arbitrary<Body> =>
  fc
    .constantFrom(...brokenBodies)
    .map(([bytes, headers]) => ({ headers: { 'content-type': type, ...headers }, bytes }));
