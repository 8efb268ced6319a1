// Names the words and keys of the Preferences panel.
import type { LabState } from '../../page/state/store.ts'

export type Choice = 'a' | 'b' | 'skip' | 'undo'

/** None of them is a digit: answers may be digits, and a key that looks like one would seem to
 * choose it. */
const KEYS: Readonly<Record<string, Choice>> = {
  a: 'a',
  b: 'b',
  ArrowLeft: 'a',
  ArrowRight: 'b',
  x: 'skip',
  z: 'undo',
}

/** What a key says of the pair on screen. */
export const choiceOf = (key: string): Choice | undefined =>
  Object.hasOwn(KEYS, key.length === 1 ? key.toLowerCase() : key)
    ? KEYS[key.length === 1 ? key.toLowerCase() : key]
    : undefined

type Asked = NonNullable<LabState['asked']>

// Each is written out: what counts a thing differs from language to language.
const verdictsText = (count: number) => `${count} ${count === 1 ? 'verdict' : 'verdicts'}`
const pairsText = (count: number) => `${count} ${count === 1 ? 'pair' : 'pairs'}`
const promptsText = (count: number) => `${count} ${count === 1 ? 'prompt' : 'prompts'}`
const heldOutPairsText = (count: number) => `${count} held-out ${count === 1 ? 'pair' : 'pairs'}`

/** How far a person has come: one sentence. `hasBegun`: steps were trained on verdicts already. */
export function progressText({ given, min_pairs, pending }: Asked, hasBegun = false): string {
  const said = given === 0 ? 'No verdict yet' : verdictsText(given)
  if (pending === 0) return `${said}; there are no more pairs.`
  if (given < min_pairs)
    return `${given} of ${verdictsText(min_pairs)}; then training ${hasBegun ? 'continues' : 'begins'}.`
  const left = pairsText(pending)
  if (min_pairs > 0)
    return `${said}. Enough: training ${hasBegun ? 'has begun' : 'begins'}. Each further verdict is used as it comes; you can stop. ${left} left.`
  const each = given === 0 ? 'each one' : 'each further one'
  return `${said}; ${each} is used as it comes. ${left} left.`
}

/** Whether a verdict can be taken back: a pair was decided before the one that is next. */
export const canUndo = ({ pairs }: Asked): boolean => pairs[0]?.id !== 0

/** How much of what training waits for has come, 0 … 1. */
export const progressShare = ({ given, min_pairs }: Asked): number =>
  min_pairs === 0 ? 1 : Math.min(1, given / min_pairs)

/** What accuracy is measured on, after "84 % of"; `prompts`: the different prompts of the held-out
 * pairs, unknown in runs that were recorded without them. */
export function heldOutText(pairs: number, prompts: number | undefined): string {
  const held_out = heldOutPairsText(pairs)
  if (prompts === undefined) return held_out
  return `${held_out} with ${promptsText(prompts)} that no training pair has`
}

/** Why accuracy is measured on fewer pairs than were asked for, where it is; `counted`: metrics of
 * a step. */
export function fewHeldOut(
  { source, held_out }: { readonly source: string; readonly held_out: number },
  counted: { readonly pairs?: number | undefined; readonly held_out_pairs?: number | undefined },
): string | undefined {
  const { pairs, held_out_pairs } = counted
  // A person's pairs come one by one, every fourth prompt is held out.
  if (source === 'human' || pairs === undefined || held_out_pairs === undefined) return undefined
  if (held_out_pairs >= held_out) return undefined
  if (held_out_pairs === 0)
    return `No pair is held out: the ${pairsText(pairs)} to train on use every prompt. Ask for more pairs, or choose a task with more problems.`
  return `${held_out} held-out pairs were asked for. A prompt is held out with all its pairs or not at all, and ties leave fewer pairs: for more, choose a task with more problems or a higher temperature of pairs.`
}
