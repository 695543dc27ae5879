import { Type, type Static } from 'typebox';

import { Id, TimeInput, Uuid } from '../../ids.ts';
import {
  CaptureKind,
  maxCaptureBytes,
  RecordedApp,
  RecordedCall,
  RecordStatus,
  RecordType,
  Tag,
} from '../../runs/records.ts';
import { RunError } from '../../runs/runs.ts';
import { success, type RouteContract } from '../contract.ts';

export const RecordScreen = Type.Object(
  {
    _id: Type.String(),
    uiUrl: Type.Union([Type.String(), Type.Null()], {
      description: 'Full URL of a JSON file with the accessibility tree; null if it could not be captured',
    }),
    screenshot: Type.Object({
      screenshotUrl: Type.Union([Type.String(), Type.Null()], {
        description:
          'Full URL of a JPEG screenshot; null if none was requested (the record is then not `partial`), or if it could not be taken',
      }),
      compressedWidth: Type.Integer(),
      compressedHeight: Type.Integer(),
      originalWidth: Type.Integer(),
      originalHeight: Type.Integer(),
    }),
    nextStage: Type.String(),
    screenState: Type.String(),
    maxSteps: Type.Integer({ description: 'Remaining steps when captured; 0 means out of steps' }),
    timestamp: Type.Integer({ description: 'Milliseconds since the Unix epoch' }),
    actions: Type.Array(RecordedCall, {
      description:
        'The first 30 calls of the automation before it stored the next screen: what it touched and opened, and the length of typed text. Calls on password fields and on masked nodes are left out',
    }),
  },
  { title: 'Screen' },
);

export const OutOfStepsRecord = Type.Object(
  {
    device_info: Type.Object({
      brand: Type.String(),
      model: Type.String(),
      device_id: Type.String(),
      android_version: Type.String(),
    }),
    automation_name: Type.String(),
    out_of_steps_id: Type.String(),
    automation_id: Type.String(),
    run_id: Type.String(),
    type: RecordType,
    status: RecordStatus,
    screens: Type.Array(RecordScreen),
    added: Type.String({ description: 'ISO 8601' }),
    saved: Type.Boolean(),
    tag: Type.String(),
    partial: Type.Boolean({ description: 'Whether a requested part of the capture is missing' }),
    error: Type.Union([RunError, Type.Null()], {
      description: 'Error that ended the run, for a `crash` or a `timeout` that the host recorded; else null',
    }),
    app: Type.Union([RecordedApp, Type.Null()], {
      description: 'App of the last screen, as far as the device reported it in time; null without a tree',
    }),
  },
  { title: 'Record' },
);
export type OutOfStepsRecord = Static<typeof OutOfStepsRecord>;

const params = Type.Object({ id: Id });
const captureTypes = ['application/json', 'image/jpeg'];

/** UUID in the service's own notation. Another notation would be another URL. */
const LowerCaseUuid = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
});

/** Records: screens of moments that an author has to review. */
export const recordRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/automation-project/out-of-steps',
    operationId: 'outOfSteps',
    tag: 'Records',
    summary: 'Read one record, with its position among those that match',
    description:
      'Returns the newest matching record. `cursor` returns the record with that ID, `before_cursor` the next older match, `after_cursor` the next newer match; only one of the three may be used.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    query: Type.Object({
      cursor: Type.Optional(Uuid),
      before_cursor: Type.Optional(Uuid),
      after_cursor: Type.Optional(Uuid),
      automation_id: Type.Optional(Id),
      type: Type.Optional(RecordType),
      status: Type.Optional(RecordStatus),
      partial: Type.Optional(Type.Enum(['true', 'false'])),
      tag: Type.Optional(Tag),
      device_id: Type.Optional(Id),
      run_id: Type.Optional(Uuid),
      added_after: Type.Optional(TimeInput),
      added_before: Type.Optional(TimeInput),
    }),
    responses: {
      200: Type.Object({
        success,
        result: Type.Union([OutOfStepsRecord, Type.Null()]),
        total: Type.Integer(),
        currentPage: Type.Integer(),
        currentCursor: Type.Union([Type.String(), Type.Null()]),
        hasNext: Type.Boolean(),
        hasPrev: Type.Boolean(),
      }),
    },
    errors: ['record_not_found'],
  },
  tags: {
    method: 'GET',
    path: '/api/v2/automation-project/out-of-steps/tags',
    operationId: 'outOfStepsTags',
    tag: 'Records',
    summary: 'List the tags of an automation’s debug records',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    query: Type.Object({ automation_id: Id }),
    responses: { 200: Type.Object({ success, tags: Type.Array(Type.String()) }) },
  },
  mark: {
    method: 'PATCH',
    path: '/api/v2/automation-project/out-of-steps/:id/status',
    operationId: 'markOutOfSteps',
    tag: 'Records',
    summary: 'Mark a pending record as solved or skipped; this cannot be changed afterwards',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'mark_record',
    params,
    body: Type.Object({ status: Type.Enum(['solved', 'skipped']) }),
    responses: { 200: Type.Object({ success, message: Type.String(), status: Type.String() }) },
    errors: ['record_not_found', 'record_already_marked'],
  },
  save: {
    method: 'PATCH',
    path: '/api/v2/automation-project/out-of-steps/:id/save',
    operationId: 'saveOutOfSteps',
    tag: 'Records',
    summary: 'Save or unsave a record',
    description: 'A saved record is protected from automatic deletion for 2 months from its creation.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'save_record',
    params,
    body: Type.Object({ saved: Type.Boolean() }),
    responses: { 200: Type.Object({ success, message: Type.String(), saved: Type.Boolean() }) },
    errors: ['record_not_found'],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/records/:id',
    operationId: 'deleteOutOfSteps',
    tag: 'Records',
    summary: 'Delete a record with its trees and pictures, even if it is saved',
    description:
      'The copy of its screen that is kept for replays is deleted as well, and the record leaves its group. Golden screens are files of the project and are kept.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'delete_record',
    params,
    responses: { 200: Type.Object({ success, message: Type.String() }) },
    errors: ['record_not_found'],
  },
  putCapture: {
    method: 'PUT',
    path: '/api/v2/hosts/records/:record_id/screens/:screen_id/:kind',
    operationId: 'putCapture',
    tag: 'Hosts',
    summary: 'Upload a capture of a record that the host has announced',
    description:
      'The body is the tree (`application/json`) or the picture (`image/jpeg`). Repeating an upload is a success.',
    scope: 'host',
    reach: { projects: 'refused', phones: 'refused' },
    audit: null,
    params: Type.Object({ record_id: Uuid, screen_id: Uuid, kind: CaptureKind }),
    bodyTypes: captureTypes,
    bodyLimitBytes: maxCaptureBytes,
    responses: { 200: Type.Object({ success }) },
    errors: [
      'capture_not_expected',
      'wrong_capture_type',
      'invalid_content',
      'storage_full',
      'capture_bytes_exceeded',
    ],
  },
  readCapture: {
    method: 'GET',
    path: '/captures/:record_id/:screen_id/:kind',
    operationId: 'readCapture',
    tag: 'Records',
    summary: 'Read a capture: a tree (JSON) or a picture (JPEG)',
    description:
      'Use the URL exactly as it is in a record (`uiUrl`, `screenshotUrl`): it is signed, valid for one day, and needs no Authorization header.',
    scope: null,
    reach: null,
    params: Type.Object({ record_id: LowerCaseUuid, screen_id: LowerCaseUuid, kind: CaptureKind }),
    query: Type.Object({
      expires: Type.String({
        pattern: '^[1-9][0-9]{0,11}$',
        description: 'End of validity, in seconds since the Unix epoch',
      }),
      signature: Type.String({ maxLength: 100 }),
    }),
    responses: { 200: captureTypes, 206: captureTypes },
    errors: [
      'capture_url_invalid',
      'capture_url_expired',
      'capture_not_found',
      'range_not_satisfiable',
      'bucket_unavailable',
    ],
  },
} as const satisfies Record<string, RouteContract>;
