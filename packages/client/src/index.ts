export type { Device, ErrorCode, LogEntry, Run, RunDetail } from '@phalanx/protocol';
export { PhalanxClient, type CodeLaunch, type LaunchInputs, type ProjectLaunch } from './client.ts';
export type { EventOptions } from './events.ts';
export { isPassing, NotTheService, ServiceError, ServiceUnreachable } from './transport.ts';
export type { Operations } from './operations.ts';
export type { FileToSend } from './send-file.ts';
export { RunHandle, type FollowOptions } from './run.ts';
export type { FollowedEvent } from './event-stream.ts';
export type { CallOptions, TransportOptions } from './transport.ts';
