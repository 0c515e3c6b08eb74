import { z } from 'zod';
import type { Message } from './messages.ts';
import { isRef } from './store.ts';
import type { ClaimCheckStore, Ref } from './store.ts';
import type { AgentState } from './state.ts';

const ref = z.string().refine(isRef, 'must be the name of something in the store');

const note = z.union([
  z.strictObject({ role: z.literal('tool'), callId: z.string(), text: z.string() }),
  z.strictObject({ role: z.literal('tool'), callId: z.string(), ref, size: z.int() }),
  z.strictObject({ role: z.literal('user'), text: z.string() }),
]);

/**
 * One turn as it is kept: what was said to the model, what it answered, and the turn before. So the
 * newest entry's name is the whole transcript's, an entry is never written again, and a turn costs one
 * write however long the run is.
 */
const entrySchema = z.strictObject({
  turn: z.int().positive(),
  previous: ref.nullable(),
  notes: z.array(note),
  answer: z.strictObject({
    role: z.literal('assistant'),
    content: z.string(),
    calls: z.array(z.strictObject({ callId: z.string(), name: z.string(), arguments: z.string() })),
  }),
});
export type Entry = z.infer<typeof entrySchema>;

/** Puts a turn into the store and returns its name. */
export function writeEntry(store: ClaimCheckStore, entry: Entry): Promise<Ref> {
  return store.put(new TextEncoder().encode(JSON.stringify(entry)));
}

/**
 * The newest turns, oldest of them first: `count` of them, or all. Throws NotInStore when one is gone,
 * SyntaxError or ZodError when it is none.
 */
export async function readEntries(
  store: ClaimCheckStore,
  head: Ref | undefined,
  count = Infinity,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let name = head ?? null; name !== null && entries.length < count;) {
    const entry = entrySchema.parse(JSON.parse(await textOf(store, name)));
    entries.unshift(entry);
    name = entry.previous;
  }
  return entries;
}

/** A turn's notes as the model gets them: results right after the calls they belong to. */
export async function messagesOfNotes(
  store: ClaimCheckStore,
  notes: Entry['notes'],
): Promise<Message[]> {
  const messages = await Promise.all(
    notes.map(async (each): Promise<Message> => {
      const content = 'ref' in each ? await textOf(store, each.ref) : each.text;
      return each.role === 'user'
        ? { role: 'user', content }
        : { role: 'tool', callId: each.callId, content };
    }),
  );
  const isResult = ({ role }: Message) => role === 'tool';
  return [...messages.filter(isResult), ...messages.filter((each) => !isResult(each))];
}

/** Everything in the store that a run needs as long as it is kept. */
export async function* refsOf(
  store: ClaimCheckStore,
  { head, notes }: Pick<AgentState, 'head' | 'notes'>,
): AsyncGenerator<Ref> {
  yield* refsIn(notes);
  for (let name = head ?? null; name !== null;) {
    yield name;
    const [entry] = await readEntries(store, name, 1);
    if (!entry) return;
    yield* refsIn(entry.notes);
    name = entry.previous;
  }
}

function refsIn(notes: Entry['notes']): Ref[] {
  return notes.flatMap((each) => ('ref' in each ? [each.ref] : []));
}

async function textOf(store: ClaimCheckStore, name: Ref): Promise<string> {
  return new TextDecoder().decode(await store.get(name));
}
