import { IsLiteral, IsObject, type TObject, type TUnion } from 'typebox';

/** Objects distinguished by one field, such as the `type` of a step. */
export interface Choice {
  readonly field: string;
  readonly variants: ReadonlyMap<string, TObject>;
}

/** Returns the choice of a union; undefined when no field distinguishes its variants. */
export function choiceOf({ anyOf }: TUnion): Choice | undefined {
  const objects = anyOf.filter(IsObject);
  const [first] = objects;
  if (first === undefined || objects.length < anyOf.length) return undefined;
  const field = Object.keys(first.properties).find((name) =>
    objects.every((one) => constantOf(one, name) !== undefined),
  );
  if (field === undefined) return undefined;
  return { field, variants: new Map(objects.map((one) => [constantOf(one, field) ?? '', one])) };
}

function constantOf({ properties }: TObject, name: string): string | undefined {
  const field = properties[name];
  return IsLiteral(field) && typeof field.const === 'string' ? field.const : undefined;
}
