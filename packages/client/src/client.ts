import type { SentFile } from '@phalanx/protocol';
import { followEvents, type EventOptions } from './events.ts';
import { ApiClient, type ClientOptions } from './api-client.ts';
import { ServiceError } from './service-errors.ts';
import { operationsOf, type Operations } from './operations.ts';
import { randomUuid } from './random-uuid.ts';
import { RunHandle } from './run.ts';
import { type FileToSend, sendFile } from './send-file.ts';
import type { FollowedEvent } from './event-stream.ts';

export interface LaunchInputs {
  /** Parameters, which the code reads as `agent.arguments.automationParameters`. */
  readonly parameters?: Record<string, unknown>;
  readonly jobVariables?: Record<string, unknown>;
}

export interface CodeLaunch extends LaunchInputs {
  readonly deviceId: string;
  /** Source code in JavaScript or TypeScript. */
  readonly code: string;
  /** Name of the launch in lists. */
  readonly name?: string;
  /** Idempotency key of the launch; by default a new one. Repeating a request with this key starts nothing twice. */
  readonly launchId?: string;
}

export interface ProjectLaunch extends LaunchInputs {
  readonly projectId: string;
  readonly deviceIds?: readonly string[];
  /** Selector such as `country=de`, instead of `deviceIds`: launches on matching phones that are free. */
  readonly selector?: string;
  /** Number of matching phones to launch on. */
  readonly count?: number;
  /** Idempotency key of the launch, as in `CodeLaunch`. */
  readonly launchId?: string;
}

/** Client of a service for programs. */
export class PhalanxClient {
  /** Methods for all operations of the API. */
  readonly api: Operations;

  constructor(options: ClientOptions) {
    this.api = operationsOf(new ApiClient(options));
  }

  /** Runs code on a device. Retries without a response are idempotent. */
  async launchCode({ deviceId, code, name, launchId, ...inputs }: CodeLaunch): Promise<RunHandle> {
    const body = {
      device_id: deviceId,
      launch_id: launchId ?? randomUuid(),
      command: 'start',
      code,
      ...(name === undefined ? {} : { name }),
      ...inputsOf(inputs),
    } as const;
    const [run] = this.#runsOf(await this.api.launchDirectAutomation({ body }));
    if (run === undefined) throw new TypeError('The service has started a run and does not say which.');
    return run;
  }

  /** Runs a saved project on each device or on free ones. Retries are idempotent, as in `launchCode`. */
  async launchProject({
    projectId,
    deviceIds,
    selector,
    count,
    launchId,
    ...inputs
  }: ProjectLaunch): Promise<RunHandle[]> {
    const body = {
      automationId: projectId,
      launch_id: launchId ?? randomUuid(),
      command: 'start',
      ...(deviceIds === undefined ? {} : { device_ids: [...deviceIds] }),
      ...(selector === undefined ? {} : { selector }),
      ...(count === undefined ? {} : { count }),
      ...inputsOf(inputs),
    } as const;
    return this.#runsOf(await this.api.launchAutomation({ body }));
  }

  /** Returns a run by its ID, including runs that others have started. */
  async getRun(runId: string): Promise<RunHandle> {
    const { run } = await this.api.getRun({ params: { id: runId } });
    return new RunHandle(this.api, run);
  }

  /** Yields changes of devices, runs and logs from now on, until the caller stops reading. */
  events(options: EventOptions = {}): Promise<AsyncGenerator<FollowedEvent, void, undefined>> {
    return followEvents(this.api, options);
  }

  /** Writes files of a project atomically, and leaves all others unchanged. */
  async uploadFiles(projectId: string, files: Readonly<Record<string, string>>): Promise<void> {
    const params = { id: projectId };
    for (let attempt = 1; ; attempt++) {
      const { etag } = await this.api.listFiles({ params, query: { limit: 1 } });
      const body = {
        files: Object.entries(files).map(([path, content]) => ({ path, content })),
        deleted: [],
        expected_etag: etag,
      };
      try {
        await this.api.replaceFiles({ params, body });
        return;
      } catch (error) {
        // Another user has saved meanwhile.
        const isChanged = error instanceof ServiceError && error.code === 'precondition_failed';
        if (!isChanged || attempt === uploadAttempts) throw error;
      }
    }
  }

  /** Sends a file to a phone: an APK is installed, any other file is stored in `/sdcard/Download`. */
  sendFile(deviceId: string, file: FileToSend): Promise<SentFile> {
    return sendFile((body) => this.api.sendFileToDevice({ params: { id: deviceId }, body }), file);
  }

  #runsOf({ devices }: { devices: readonly { device_id: string; run_id: string | null }[] }): RunHandle[] {
    return devices.flatMap(({ device_id: deviceId, run_id: runId }) =>
      runId === null ? [] : [new RunHandle(this.api, { run_id: runId, device_id: deviceId })],
    );
  }
}

const uploadAttempts = 5;

const inputsOf = ({ parameters, jobVariables }: LaunchInputs) => ({
  ...(parameters === undefined ? {} : { automationParameters: parameters }),
  ...(jobVariables === undefined ? {} : { jobVariables }),
});
