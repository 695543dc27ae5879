export interface ParameterQuestion {
  /** Text of `parameters.schema.json`. */
  schema: string;
  /** Null: only the schema is to be looked at. */
  parameters: Record<string, unknown> | null;
}

/** The parameters with the schema's defaults filled in; or what is wrong with them, or with the schema. */
export type ParameterAnswer =
  { parameters: Record<string, unknown> } | { reasons: string[] } | { schemaProblem: string };
