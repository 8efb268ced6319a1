// Finds answers of a run to the same problems before it and after it.
import type { Generation } from '../../host/protocol/results.ts'
import type { LabState } from '../../page/state/store.ts'

export interface Example {
  readonly before: Generation
  readonly after: Generation
}

export interface Examples {
  /** Of the two validations. */
  readonly steps: readonly [before: number, after: number]
  readonly examples: readonly Example[]
}

/** How much an example tells: an answer that became right, then any that changed. */
function worth({ before, after }: Example): number {
  if (after.score > before.score) return 3
  if (after.score < before.score) return 2
  return after.output === before.output ? 0 : 1
}

/** `count` problems of the first and the last validation, with the likeliest answer to each; those
 * whose answers became right come first, and one that is still wrong comes last. Undefined where
 * fewer than two validations kept any. */
export function examplesOf({ kept }: LabState, count: number): Examples | undefined {
  const { items } = kept.generations
  const [first, last] = [items[0], items.at(-1)]
  if (!first || !last || first.step === last.step) return undefined
  const likeliest = (answers: readonly Generation[]) =>
    answers.filter(({ do_sample }) => do_sample !== true)
  const then = new Map(likeliest(first.item).map((answer) => [answer.input, answer]))
  const both = likeliest(last.item).flatMap((after) => {
    const before = then.get(after.input)
    return before ? [{ before, after }] : []
  })
  if (both.length === 0) return undefined
  const sorted = both.toSorted((a, b) => worth(b) - worth(a))
  return { steps: [first.step, last.step], examples: withFailure(sorted, count) }
}

/** The first ones, and where all of these are right one that still is not, if there is any. */
function withFailure(sorted: readonly Example[], count: number): readonly Example[] {
  const isWrong = ({ after }: Example) => after.score < 1
  const chosen = sorted.slice(0, count)
  const failure = count > 1 && !chosen.some(isWrong) ? sorted.find(isWrong) : undefined
  return failure ? [...chosen.slice(0, -1), failure] : chosen
}
