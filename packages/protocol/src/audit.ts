import { Type, type Static } from 'typebox';

/** Audited actions, each with the type of its subject. */
export const auditActions = {
  launch: 'project',
  stop: 'device',
  create_job: 'job',
  cancel_job: 'job',
  resume_job: 'job',
  delete_job: 'job',
  create_schedule: 'schedule',
  change_schedule: 'schedule',
  delete_schedule: 'schedule',
  run_schedule: 'schedule',
  create_webhook: 'webhook',
  change_webhook: 'webhook',
  delete_webhook: 'webhook',
  rotate_webhook_secret: 'webhook',
  test_webhook: 'webhook',
  replay_webhook_delivery: 'webhook',
  write_file: 'project',
  replace_files: 'project',
  delete_file: 'project',
  rename_file: 'project',
  commit: 'project',
  revert: 'project',
  push: 'project',
  create_project: 'project',
  rename_project: 'project',
  delete_project: 'project',
  share_project: 'project',
  unshare_project: 'project',
  set_secret: 'project',
  delete_secret: 'project',
  add_secret_recipient: 'project',
  remove_secret_recipient: 'project',
  share_device: 'device',
  unshare_device: 'device',
  share_host: 'host',
  unshare_host: 'host',
  accept_share: 'project',
  forget_device: 'device',
  rename_device: 'device',
  label_device: 'device',
  label_host: 'host',
  pair_phone: 'host',
  save_pool: 'pool',
  delete_pool: 'pool',
  touch_device: 'device',
  act_on_device: 'device',
  send_file: 'device',
  lease_device: 'device',
  end_lease: 'device',
  connect_host: 'host',
  disconnect_host: 'host',
  mark_record: 'record',
  save_record: 'record',
  delete_record: 'record',
  delete_group_screen: 'group',
  change_group: 'group',
  merge_groups: 'group',
  split_group: 'group',
  undo_group: 'group',
  replay: 'project',
  stop_replay: 'project',
  create_token: 'token',
  delete_token: 'token',
  sign_in: 'token',
  sign_out: 'token',
  create_user: 'user',
  update_user: 'user',
  delete_user: 'user',
  /** Refused reads. Successful reads are not recorded. */
  read: null,
} as const satisfies Record<string, AuditSubjectType | null>;

const subjectTypes = [
  'project',
  'device',
  'host',
  'pool',
  'job',
  'schedule',
  'webhook',
  'run',
  'record',
  'group',
  'token',
  'user',
] as const;
export type AuditSubjectType = (typeof subjectTypes)[number];

export type AuditAction = keyof typeof auditActions;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant has only its own keys
export const AuditAction = Type.Enum(Object.keys(auditActions) as AuditAction[], {
  title: 'AuditAction',
  description: 'Action of an audit entry; `read` occurs only in refusals',
});

/** Outcome of an action. `failed`: the action was started, and may be partly done. */
export const AuditOutcome = Type.Enum(['done', 'refused', 'failed'] as const, { title: 'AuditOutcome' });
export type AuditOutcome = Static<typeof AuditOutcome>;

export const AuditSubject = Type.Object(
  {
    type: Type.Enum(subjectTypes),
    id: Type.String(),
    name: Type.Union([Type.String(), Type.Null()], { description: 'Name at the time of the action' }),
  },
  { title: 'AuditSubject' },
);
export type AuditSubject = Static<typeof AuditSubject>;
