// Pairs two different responses to one prompt: what a preference is made of.
import type { Sample } from '../../tasks/task/task.ts'
import type { RolloutBatch } from '../experience/batch.ts'

/** A prompt with one response as the reward model reads it: [T] each, T = P + R columns. */
export interface SequenceRow {
  readonly input_ids: Uint32Array
  readonly attention_mask: Uint32Array
  readonly position_ids: Uint32Array
}

/** Row b of a batch. */
export function sequenceRow(batch: RolloutBatch, b: number): SequenceRow {
  const T = batch.prompt_length + batch.response_length
  const row = (values: Uint32Array) => values.subarray(b * T, (b + 1) * T)
  return {
    input_ids: row(batch.input_ids),
    attention_mask: row(batch.attention_mask),
    position_ids: row(batch.position_ids),
  }
}

/** The prompt of one row with the response of another: what KTO measures its KL on. */
export function mismatched(prompt: SequenceRow, response: SequenceRow, P: number): SequenceRow {
  const join = (name: 'input_ids' | 'attention_mask') => {
    const values = prompt[name].slice()
    values.set(response[name].subarray(P), P)
    return values
  }
  const attention_mask = join('attention_mask')
  let position = -1
  const position_ids = attention_mask.map((m) => {
    position += m
    return Math.max(0, position)
  })
  return { input_ids: join('input_ids'), attention_mask, position_ids }
}

/** One response, as text and as ids. */
export interface Candidate {
  readonly row: SequenceRow
  readonly text: string
  readonly is_ended: boolean
  /** The task's. */
  readonly score: number
  /** The reward model's, where that judges. */
  readonly reward?: number
}

/** What a judge gives a response. */
export const judgedScore = ({ reward, score }: Candidate): number => reward ?? score

export interface ResponsePair {
  readonly prompt: string
  readonly a: Candidate
  readonly b: Candidate
}

/** Whether there is nothing to choose between two responses. */
export type Tie = (a: Candidate, b: Candidate) => boolean

/** Both responses read the same, so such a pair teaches nothing, no matter who judges. */
export const readsAlike: Tie = (a, b) => a.text === b.text && a.is_ended === b.is_ended

/** Both have the same score of their judge. */
export const scoresAlike: Tie = (a, b) => judgedScore(a) === judgedScore(b) || readsAlike(a, b)

/** Of n responses to a prompt the best and the worst, the first of equal ones, in their order; of
 * those that a person judges the first two that read otherwise. */
function pairOf(answers: readonly Candidate[], isTie: Tie): readonly [Candidate, Candidate] {
  const [first] = answers
  if (isTie === readsAlike)
    return [first, answers.find((other) => !readsAlike(first, other)) ?? first]
  const scores = answers.map(judgedScore)
  const [best, worst] = [Math.max(...scores), Math.min(...scores)].map((x) => scores.indexOf(x))
  return [answers[Math.min(best, worst)], answers[Math.max(best, worst)]]
}

/** The policy made no pair that anyone could have a preference in. */
export class NoPairsError extends Error {
  override name = 'NoPairsError'
}

/** How often two responses are drawn to a prompt before it is given up. */
const MAX_DRAWS = 8
/** Prompts that are tried at most, for each pair that is wanted. */
const PROMPTS_PER_PAIR = 4

export interface PairSource {
  /** Prompts that are answered at a time. */
  readonly promptsAtOnce: number
  /** The next problems of the run. */
  takeSamples(count: number): readonly Sample[]
  /** Two or more responses to each of `promptsAtOnce` problems; every round of a phase draws
   * others. */
  respond(samples: readonly Sample[], round: number): Promise<readonly (readonly Candidate[])[]>
}

export interface DrawnPairs {
  readonly pairs: readonly ResponsePair[]
  /** Prompts that were given up because every draw was a tie. */
  readonly ties: number
  /** Rounds from `firstRound` on. */
  readonly rounds: number
}

/** Up to `want` pairs that are no tie, at most one to a drawn problem. A tie is drawn again, at
 * most 8 times in all; after four problems for each pair that is wanted there are no more. */
export async function drawPairs(
  source: PairSource,
  want: number,
  isTie: Tie,
  firstRound = 0,
): Promise<DrawnPairs> {
  const pairs: ResponsePair[] = []
  let waiting: { readonly sample: Sample; readonly draws: number }[] = []
  let left = want * PROMPTS_PER_PAIR
  let [ties, rounds] = [0, 0]
  while (pairs.length < want && (left > 0 || waiting.length > 0)) {
    const fresh = Math.min(source.promptsAtOnce - waiting.length, left)
    left -= fresh
    const asked = [...waiting, ...source.takeSamples(fresh).map((sample) => ({ sample, draws: 0 }))]
    const filled = Array.from(
      { length: source.promptsAtOnce },
      (_, i) => asked[i % asked.length].sample,
    )
    const answers = await source.respond(filled, firstRound + rounds++)
    waiting = []
    for (const [i, { sample, draws }] of asked.entries()) {
      const [a, b] = pairOf(answers[i], isTie)
      if (!isTie(a, b)) pairs.push({ prompt: sample.prompt, a, b })
      else if (draws + 1 < MAX_DRAWS) waiting.push({ sample, draws: draws + 1 })
      else ties++
    }
  }
  return { pairs: pairs.slice(0, want), ties, rounds }
}

/** The prompts that are held out of `pairs`: whole prompts from the last pair back, as long as all
 * their pairs are no more than `want`. Where the pairs of no prompt are that few, the prompt with
 * the fewest; of one prompt alone nothing is held out. */
export function heldOutPrompts(
  pairs: readonly Pick<ResponsePair, 'prompt'>[],
  want: number,
): ReadonlySet<string> {
  const counts = new Map<string, number>()
  for (const { prompt } of pairs.toReversed()) counts.set(prompt, (counts.get(prompt) ?? 0) + 1)
  const heldOut = new Set<string>()
  let left = want
  for (const [prompt, count] of counts) {
    if (count > left) continue
    heldOut.add(prompt)
    left -= count
  }
  if (heldOut.size > 0 || want < 1 || counts.size < 2) return heldOut
  const [[rarest]] = [...counts].sort(([, a], [, b]) => a - b)
  return new Set([rarest])
}
