import type { DeviceReport, HostQuestionType, RecordReport, RunReport } from '@phalanx/protocol';

/** Something that reached the service, in order of arrival. */
export type Arrival =
  | { kind: 'hello'; connection: number; runs: RunReport[]; devices: DeviceReport[]; hostId: string }
  | { kind: 'devices'; devices: DeviceReport[] }
  | { kind: 'heartbeat'; connection: number; ready: string[] }
  | { kind: 'run'; report: RunReport }
  | { kind: 'logs'; runId: string; firstSeq: number; count: number; storedSeq: number }
  | { kind: 'record'; record: RecordReport }
  | { kind: 'capture'; path: string; status: number }
  | { [Name in HostQuestionType]: { kind: Name; requestId: string; bytes: Buffer } }[HostQuestionType]
  | { kind: 'request_failed'; requestId: string; message: string };
