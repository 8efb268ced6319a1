// Finds the pairs that a phase of a reward model or of preferences begins with: those that the
// policy makes now, or those that the rows of the task bring.
import type { Sample, Split, Task } from '../../tasks/task/task.ts'
import type { PairedPhase, Pairs } from '../config/phase.ts'
import type { JudgedAnswers } from './judged_answers.ts'
import {
  drawPairs,
  NoPairsError,
  type PairSource,
  type ResponsePair,
  readsAlike,
  scoresAlike,
} from './pairs.ts'

export interface PhasePairSource extends PairSource {
  /** Pairs of the rows, the better response first: up to `count` to train on, then up to `held_out`
   * with other prompts. */
  given(count: number, held_out: number): readonly ResponsePair[]
  /** Answers of the rows that were judged one by one; undefined where rows have none. */
  judged(count: number, held_out: number): JudgedAnswers | undefined
}

/** The pairs of a phase. Throws NoPairsError where there are none. */
export async function phasePairs(
  pairs: Pairs,
  source: PhasePairSource,
  kind: PairedPhase['kind'],
): Promise<{
  readonly judged: readonly ResponsePair[]
  readonly asked: readonly ResponsePair[]
  readonly ties: number
}> {
  const { count, held_out } = pairs
  if (pairs.source === 'file') {
    const judged = source.given(count, held_out)
    if (judged.length > 0) return { judged, asked: [], ties: 0 }
    throw new NoPairsError(`${kind}: the rows of the task have no pairs of answers`)
  }
  const wanted = count + held_out
  const none = { pairs: [], ties: 0, rounds: 0 }
  const judged = pairs.source === 'human' ? none : await drawPairs(source, wanted, scoresAlike)
  const asks = pairs.source === 'human' ? wanted : pairs.source === 'mixed' ? count : 0
  const asked = await drawPairs(source, asks, readsAlike, judged.rounds)
  const ties = judged.ties + asked.ties
  if (judged.pairs.length + asked.pairs.length === 0)
    throw new NoPairsError(
      `${kind}: no two responses to one prompt differ in ${pairs.source === 'judge' ? 'score' : 'text'}, so there is nothing to prefer (${ties} prompts were tried); sample at a higher temperature or end the warm start earlier`,
    )
  return { judged: judged.pairs, asked: asked.pairs, ties }
}

/** A problem with a better and a worse answer, as its row has them. */
export interface WrittenPair {
  readonly sample: Sample
  readonly chosen: string
  readonly rejected: string
}

/** The first `most` pairs of a side of the task's rows. */
export function writtenPairs(
  task: Task,
  seed: number,
  split: Exclude<Split, 'train'>,
  most: number,
): readonly WrittenPair[] {
  const pairs: WrittenPair[] = []
  const size = split === 'test' ? task.test_size : task.train_size
  for (let i = 0; i < size && pairs.length < most; i++) {
    const sample = task.sample(seed, i, split)
    for (const rejected of sample.rejected ?? [])
      pairs.push({ sample, chosen: sample.demonstration, rejected })
  }
  return pairs.slice(0, most)
}
