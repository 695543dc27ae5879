/** Checks parameters against a schema, in a thread of its own: a schema is a user's and may take for ever. */
import { parentPort } from 'node:worker_threads';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';

import { giveWayAsThread } from '../../limits/priority.ts';
import type { ParameterAnswer, ParameterQuestion } from './parameter-messages.ts';

const maxReasons = 10;

const ajv = (): Ajv2020 => {
  const instance = new Ajv2020({ allErrors: true, useDefaults: true, strict: false, logger: false });
  ajvFormats.default.default(instance);
  return instance;
};

function reason({ instancePath, message, params }: ErrorObject): string {
  const place = `automationParameters${instancePath.replaceAll('/', '.')}`;
  const unexpected: unknown = Object.entries(params).find(([name]) => name === 'additionalProperty')?.[1];
  const named = typeof unexpected === 'string' ? ` ("${unexpected}")` : '';
  return `${place} ${message ?? 'is not valid'}${named}`;
}

const isSchema = (parsed: unknown): parsed is object | boolean =>
  typeof parsed === 'boolean' || (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed));

function answer({ schema, parameters }: ParameterQuestion): ParameterAnswer {
  try {
    const parsed: unknown = JSON.parse(schema);
    if (!isSchema(parsed)) return { schemaProblem: 'it must be a JSON object, true or false' };
    const check = ajv().compile(parsed);
    // A circle of references shows when something is checked.
    if (check(parameters ?? {}) || parameters === null) return { parameters: parameters ?? {} };
    return { reasons: (check.errors ?? []).slice(0, maxReasons).map(reason) };
  } catch (error) {
    if (error instanceof RangeError)
      return { schemaProblem: 'its references or its rules go round in a circle, or are nested too deeply' };
    return { schemaProblem: error instanceof Error ? error.message : 'it is not valid' };
  }
}

giveWayAsThread();
parentPort?.on('message', (question: ParameterQuestion) => parentPort?.postMessage(answer(question)));
