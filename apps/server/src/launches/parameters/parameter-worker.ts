/** Checks parameters against a schema, in a thread of its own: a schema is a user's and may take for ever. */
import { parentPort } from 'node:worker_threads';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';

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

function answer({ schema, parameters }: ParameterQuestion): ParameterAnswer {
  try {
    const parsed: unknown = JSON.parse(schema);
    if (typeof parsed !== 'object' || parsed === null) return { schemaProblem: 'it must be a JSON object' };
    const check = ajv().compile(parsed);
    if (check(parameters)) return { parameters };
    return { reasons: (check.errors ?? []).slice(0, maxReasons).map(reason) };
  } catch (error) {
    return { schemaProblem: error instanceof Error ? error.message : 'it is not valid' };
  }
}

parentPort?.on('message', (question: ParameterQuestion) => parentPort?.postMessage(answer(question)));
