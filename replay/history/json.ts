export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value with every object in it replaced by what `change` makes of it, outermost first; undefined leaves it and goes on inside. */
export function eachObject(value: Json, change: (object: JsonObject) => Json | undefined): Json {
  if (Array.isArray(value)) return value.map((item) => eachObject(item, change));
  if (!isObject(value)) return value;
  const changed = change(value);
  if (changed !== undefined) return changed;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, eachObject(inner, change)]),
  );
}

/** The value with every text in it, names of members left out, replaced by what `change` makes of it. */
export function eachText(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => eachText(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, eachText(inner, change)]),
  );
}
