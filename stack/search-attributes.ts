import { isGrpcServiceError, type Connection } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';
import { setTimeout as sleep } from 'node:timers/promises';
import { searchAttributes } from '../workflows/search-attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;
type IndexedValueType = temporal.api.enums.v1.IndexedValueType;

/** As `defineSearchAttributeKey` makes them. */
export interface AttributeKey {
  name: string;
  type: string;
}

const GRPC_ALREADY_EXISTS = 6;
const USABLE_LIMIT_MS = 30_000;
const POLL_MS = 50;

/**
 * Registers the project's search attributes in a namespace and waits until they can be used. Those that
 * are there already are fine; one that is there with another type is an error that names all of them.
 */
export async function registerSearchAttributes(
  connection: Connection,
  namespace: string,
  attributes: readonly AttributeKey[] = searchAttributes,
): Promise<void> {
  // Listed and compared first: adding one that has another type answers OK and does nothing.
  const present = await listed(connection, namespace);
  const missing = attributes.filter(({ name }) => !(name in present));
  refuseOtherTypes(attributes, present, namespace);
  if (missing.length > 0) {
    await add(connection, namespace, missing);
    // Somebody may have added one with another type in between.
    refuseOtherTypes(attributes, await listed(connection, namespace), namespace);
  }
  await untilUsable(connection, namespace, attributes);
}

type Present = Readonly<Record<string, IndexedValueType>>;

async function listed(connection: Connection, namespace: string): Promise<Present> {
  const answer = await connection.operatorService.listSearchAttributes({ namespace });
  return { ...answer.systemAttributes, ...answer.customAttributes };
}

function refuseOtherTypes(
  attributes: readonly AttributeKey[],
  present: Present,
  namespace: string,
): void {
  const wrong = attributes.flatMap(({ name, type }) => {
    const found = present[name];
    return found === undefined || found === valueType(type)
      ? []
      : [
          `Search attribute ${name} is ${IndexedValueType[found]?.replace('INDEXED_VALUE_TYPE_', '')} ` +
            `in namespace ${namespace}, and this project needs ${type}.`,
        ];
  });
  if (wrong.length === 0) return;
  throw new Error(
    `${wrong.join('\n')}\nRemove it there (temporal operator search-attribute remove --name NAME) ` +
      'or use another namespace (TEMPORAL_NAMESPACE).',
  );
}

async function add(
  connection: Connection,
  namespace: string,
  attributes: readonly AttributeKey[],
): Promise<void> {
  const wanted = Object.fromEntries(attributes.map(({ name, type }) => [name, valueType(type)]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: wanted });
  } catch (error) {
    // Another start of the project was faster with one of them.
    if (!(isGrpcServiceError(error) && Number(error.code) === GRPC_ALREADY_EXISTS)) throw error;
  }
}

/** A server learns of new attributes a moment after it has taken them; until then it refuses to look for them. */
async function untilUsable(
  connection: Connection,
  namespace: string,
  attributes: readonly AttributeKey[],
): Promise<void> {
  const query = attributes.map(({ name }) => `${name} IS NULL`).join(' AND ');
  const deadline = Date.now() + USABLE_LIMIT_MS;
  for (;;) {
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace, query });
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(POLL_MS);
    }
  }
}

function valueType(type: string): IndexedValueType {
  const entry = Object.entries(IndexedValueType).find(
    ([name]) => name === `INDEXED_VALUE_TYPE_${type}`,
  );
  if (typeof entry?.[1] !== 'number') throw new Error(`unknown search attribute type ${type}`);
  return entry[1];
}
