// Runs as a separate process: schemas come from users, and may exhaust the memory or never terminate.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import { openServerChannel } from '../../../../kernel/processes/message-stream.ts';
import type { FromProcess, ToProcess } from './messages.ts';

const maxReasons = 10;
/**
 * Maximum length of the parameters in a reply, in characters. Each value and each name counts for at least one
 * character.
 */
const maxAnswerLength = 1024 * 1024;
/** Maximum total length of cached schemas, in characters. A compiled schema takes up to a hundred times as much. */
const maxWarmLength = 1024 * 1024;
/** Maximum length of a cached schema, in characters. Larger schemas are compiled for each launch. */
const maxWarmSchemaLength = 64 * 1024;

const warm = new LRUCache<string, ValidateFunction>({ maxSize: maxWarmLength, max: 1000 });
/** Last compiled schema, which may be too large for the cache. */
let latest: { hash: string; validate: ValidateFunction } | undefined;

const createAjv = (): Ajv2020 => {
  const ajv = new Ajv2020({ allErrors: true, useDefaults: true, strict: false, logger: false });
  ajvFormats.default.default(ajv);
  return ajv;
};

function reasonOf({ instancePath, message, params }: ErrorObject): string {
  const place = `automationParameters${instancePath.replaceAll('/', '.')}`;
  const unexpected: unknown = Object.entries(params).find(([name]) => name === 'additionalProperty')?.[1];
  const named = typeof unexpected === 'string' ? ` ("${unexpected}")` : '';
  return `${place} ${message ?? 'is not valid'}${named}`;
}

const isSchema = (parsed: unknown): parsed is object | boolean =>
  typeof parsed === 'boolean' || (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed));

function problemOf(error: unknown): string {
  if (error instanceof RangeError) return 'its references or rules are circular or nested too deeply';
  return error instanceof Error ? error.message.slice(0, 1000) : 'it is not valid';
}

function compile(hash: string, schema: string): FromProcess {
  try {
    const parsed: unknown = JSON.parse(schema);
    if (!isSchema(parsed)) return { kind: 'compiled', problem: 'it must be a JSON object, true or false' };
    const validate = createAjv().compile(parsed);
    // The first check detects circular references.
    validate({});
    latest = { hash, validate };
    if (schema.length <= maxWarmSchemaLength) warm.set(hash, validate, { size: schema.length });
    return { kind: 'compiled', problem: null };
  } catch (error) {
    return { kind: 'compiled', problem: problemOf(error) };
  }
}

function check(hash: string, parameters: Record<string, unknown>): FromProcess {
  const validate = latest?.hash === hash ? latest.validate : warm.get(hash);
  if (validate === undefined) return { kind: 'unknown' };
  try {
    if (!validate(parameters))
      return { kind: 'refused', reasons: (validate.errors ?? []).slice(0, maxReasons).map(reasonOf) };
    // Defaults are repeated in every item of a list, so the result can outgrow the parameters.
    if (JSON.stringify(parameters).length > maxAnswerLength)
      return { kind: 'schema_problem', problem: 'with its defaults the parameters are larger than 1 MB' };
    return { kind: 'fits', parameters };
  } catch (error) {
    return { kind: 'schema_problem', problem: problemOf(error) };
  }
}

const answer = (message: ToProcess): FromProcess =>
  message.kind === 'compile'
    ? compile(message.hash, message.schema)
    : check(message.hash, message.parameters);

const channel = openServerChannel(
  (message) => {
    // Messages come from the server, which is trusted.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    channel.send(answer(message as ToProcess));
  },
  () => process.exit(0),
);
const ready: FromProcess = { kind: 'ready' };
channel.send(ready);
