/** The file of a project with the JSON schema of its parameters. */
export const parametersSchemaPath = 'parameters.schema.json';
/** A schema that people wrote has some kilobytes. */
export const maxSchemaBytes = 256 * 1024;
