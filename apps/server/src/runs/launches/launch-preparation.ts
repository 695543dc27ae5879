import type { LaunchSecrets, ScreenMask } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import type { ProjectFiles } from '../../code/compile/project-mirror.ts';
import { masksPath, maxMasksBytes, readMasks } from '../../code/files/masks.ts';
import { maxSchemaBytes, parametersSchemaPath } from '../../code/files/parameters-schema.ts';
import type { Launchable } from '../../code/projects/project-files.ts';
import type { ProjectMatchers } from '../../code/secrets/project-matchers.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { Bundle, Bundles } from './bundles.ts';
import type { LaunchInputs, PreparedLaunch } from './launch.ts';
import type { ParameterChecker } from './parameters/parameter-checker.ts';

interface Options {
  readonly bundles: Bundles;
  readonly parameters: ParameterChecker;
  readonly matchers: ProjectMatchers;
  /** Reads the secrets of a project, to search for them in given values. */
  readonly secretsOf: (projectId: string) => Promise<LaunchSecrets>;
}

/** Launcher and phones of a launch. */
type Target = Pick<PreparedLaunch, 'launcher' | 'auditEvent' | 'key' | 'claim' | 'deviceIds'>;

/** Direct code as the caller sent it. */
export interface DirectCode {
  readonly launchId: string;
  readonly code: string;
  /** Undefined when the caller gave none. */
  readonly name: string | undefined;
}

/** Prepares the parts of launches that do not depend on which phones are online. */
export class LaunchPreparation {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Prepares a project whose parameters were already validated. Throws `invalid_masks` and `compile_failed`. */
  async ofProject(target: Target, project: Launchable, inputs: LaunchInputs): Promise<PreparedLaunch> {
    const masks = await masksOf(project);
    const bundle = await this.#options.bundles.ofProject(project.files);
    const { projectId: automationId } = project;
    const id = uuidv7();
    return { ...target, ...inputs, id, automationId, name: null, project, code: null, bundle, masks };
  }

  /** Prepares direct code. Throws `compile_failed`. */
  async ofDirectCode(
    target: Target,
    { launchId, code, name }: DirectCode,
    inputs: LaunchInputs,
  ): Promise<PreparedLaunch> {
    return {
      ...target,
      ...inputs,
      id: uuidv7(),
      automationId: launchId,
      name: name?.toWellFormed().replaceAll('\u0000', '') ?? null,
      project: null,
      code,
      bundle: await this.#options.bundles.ofDirectCode(target.launcher.userId, code),
      masks: [],
    };
  }

  /** Bundles a project for hosts that receive it without a launch. Throws `compile_failed`. */
  bundle(files: ProjectFiles): Promise<Bundle> {
    return this.#options.bundles.ofProject(files);
  }

  /**
   * Validates the parameters against the project's schema and returns them with its defaults. Throws
   * `invalid_parameters` or `invalid_parameter_schema`.
   */
  async checkParameters(
    { files }: Pick<Launchable, 'files'>,
    parameters: Record<string, unknown>,
    userId: string,
  ): Promise<Record<string, unknown>> {
    const schema = await files.readUpTo(parametersSchemaPath, maxSchemaBytes);
    if (schema === undefined) return parameters;
    if (!('text' in schema))
      throw ApiError.of('invalid_parameter_schema', { problem: tooLarge(schema, maxSchemaBytes) });
    return this.#options.parameters.check(schema.text, parameters, userId);
  }

  /** Requires that values contain no secrets, because they are stored until runs begin. Throws `secret_in_job`. */
  async requireNoSecrets(projectId: string, values: readonly unknown[]): Promise<void> {
    const { matchers, secretsOf } = this.#options;
    const matcher = await matchers.of(projectId, await secretsOf(projectId));
    if (matcher.isEmpty) return;
    // Yields to other requests in between, because a table may have 5 MB.
    const slice = new TimeSlice();
    for (const value of values) {
      if (await slice.run(matcher.lookingIn(JSON.stringify(value)))) throw ApiError.of('secret_in_job', {});
      if (slice.isOver) await slice.next();
    }
  }
}

async function masksOf({ files }: Launchable): Promise<ScreenMask[]> {
  const masks = await files.readUpTo(masksPath, maxMasksBytes);
  if (masks === undefined) return [];
  if (!('text' in masks)) throw ApiError.of('invalid_masks', { problem: tooLarge(masks, maxMasksBytes) });
  return readMasks(masks.text);
}

const tooLarge = ({ sizeBytes }: { sizeBytes: number }, maxBytes: number): string =>
  `it has ${sizeBytes} bytes; at most ${maxBytes} are allowed`;
