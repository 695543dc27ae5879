/** Path of the file with the JSON schema of a project's parameters. */
export const parametersSchemaPath = 'parameters.schema.json';
/** Maximum size of a schema. A hand-written schema has a few kilobytes. */
export const maxSchemaBytes = 256 * 1024;
