/** Path of the file with the JSON schema of a project's parameters. */
export const parametersSchemaPath = 'parameters.schema.json';
/** Maximum size of a schema. One that people write has some kilobytes. */
export const maxSchemaBytes = 256 * 1024;
