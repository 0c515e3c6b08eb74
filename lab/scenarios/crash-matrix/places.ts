import { STEPS } from '../../../core/steps.ts';
import { lot } from '../../running/lot.ts';
import type { Stage } from '../../scenario.ts';
import type { Boundary } from '../../wire/boundary.ts';
import type { Side } from '../../wire/fault.ts';

/** A boundary of one run, as it would be called in any other. */
export interface SeenBoundary extends Pick<Boundary, 'label' | 'ordinal'> {
  /** False for a claim that commits by itself: which run it is about is known from what it returns. */
  foreseen?: boolean;
}

/** Where a worker can be killed. */
export interface Place extends Pick<Boundary, 'label' | 'ordinal'> {
  side: Side;
}

/** The chain's links that do something outside; each ends in one commit. */
const LINKS = STEPS.filter((step) => step !== 'validate');
const EFFECTS: readonly string[] = ['credit', 'screen', 'reserve', 'charge', 'place', 'invoice'];

/** All places around the boundaries of a run, and those that are tried at this size with this seed. */
export function chosenPlaces(
  boundaries: readonly SeenBoundary[],
  { implementation, size, seed }: Pick<Stage, 'implementation' | 'size' | 'seed'>,
): { places: Place[]; chosen: Place[] } {
  if (size === 'small' && implementation === 'chain') {
    const places = boundaries.flatMap(placesAround);
    const links = boundaries.filter(({ foreseen }) => foreseen !== false);
    const around = links.filter((_, n) => EFFECTS.includes(LINKS[n] ?? ''));
    return { places, chosen: around.flatMap(placesAround) };
  }
  return drawnPlaces(boundaries, { size, seed }, 1 / 4);
}

/** All places around the boundaries of a run, and a share of them that the seed draws; all with `full`. */
export function drawnPlaces(
  boundaries: readonly SeenBoundary[],
  { size, seed }: Pick<Stage, 'size' | 'seed'>,
  share: number,
): { places: Place[]; chosen: Place[] } {
  const places = boundaries.flatMap(placesAround);
  if (size === 'full') return { places, chosen: places };
  // By name and not by number, so that a boundary more moves no other.
  const lotOf = ({ side, label }: Place) => lot(seed, `${side} ${label}`);
  const drawn = places.toSorted((a, b) => lotOf(a) - lotOf(b));
  return { places, chosen: drawn.slice(0, Math.ceil(places.length * share)) };
}

/** A claim can't be stopped before it is made: nobody knows yet whose message it will be. */
function placesAround({ label, ordinal, foreseen = true }: SeenBoundary): Place[] {
  const sides: Side[] = foreseen ? ['before', 'after'] : ['after'];
  return sides.map((side) => ({ label, ordinal, side }));
}
