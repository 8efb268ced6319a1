// Writes and reads the preferences of a phase of pairs in a file: texts and verdicts as JSON, token
// ids as tensors.
import * as z from 'zod/mini'
import { resolvePhases } from '../../../document/experiment/resolve.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { trainerConfig } from '../../../document/experiment/trainer_config.ts'
import { readTensor } from '../../../formats/safetensors.ts'
import type { OpenSafetensors } from '../../../formats/safetensors_header.ts'
import type { Candidate, ResponsePair } from '../../../rl/reward/pairs.ts'
import type { PreferencesState } from '../../../rl/reward/preferences.ts'
import type { NamedTensor, ShapeOf, Shapes } from './checkpoint_models.ts'

const COLUMNS = ['input_ids', 'attention_mask', 'position_ids'] as const

const whole = z.int().check(z.minimum(0))
const candidate = z.object({ text: z.string(), is_ended: z.boolean() })
const pair = z.object({ prompt: z.string(), a: candidate, b: candidate })

/** The part of the header about pairs. */
export const pairsSchema = z.object({
  judged: z.array(pair),
  asked: z.array(pair),
  ties: whole,
  held_out: z.optional(z.array(z.string())),
  decided: z.array(z.enum(['a', 'b', 'skip'])),
  log: z.array(z.object({ choice: z.enum(['a', 'b', 'skip', 'undo']), step: whole })),
  replayed: whole,
  queue: z.array(whole),
  passes: whole,
})

export type WrittenPairs = z.infer<typeof pairsSchema>

const candidatesOf = (pairs: readonly ResponsePair[]) => pairs.flatMap(({ a, b }) => [a, b])

/** The part of the header. */
export function writtenPairs(state: PreferencesState): WrittenPairs {
  const words = ({ text, is_ended }: Candidate) => ({ text, is_ended })
  const written = ({ prompt, a, b }: ResponsePair) => ({ prompt, a: words(a), b: words(b) })
  return {
    judged: state.judged.map(written),
    asked: state.asked.map(written),
    ties: state.ties,
    ...(state.held_out && { held_out: [...state.held_out] }),
    decided: [...state.decided],
    log: state.log.map(({ choice, step }) => ({ choice, step })),
    replayed: state.replayed,
    queue: [...state.queue],
    passes: state.passes,
  }
}

/** Token ids, masks and positions of all candidates, [candidates, T], and the task's scores of
 * them, [candidates]; the reward model's too, where it judged them, NaN for others. */
export function pairsTensors(state: PreferencesState): NamedTensor[] {
  const all = candidatesOf([...state.judged, ...state.asked])
  const width = all[0]?.row.input_ids.length ?? 0
  const columns = COLUMNS.map((name): NamedTensor => {
    const data = new Int32Array(all.length * width)
    all.forEach(({ row }, i) => {
      data.set(row[name], i * width)
    })
    return [`pairs.${name}`, { as: 'I32', shape: [all.length, width], data }]
  })
  const data = Float64Array.from(all, ({ score }) => score)
  const scores = ['pairs.scores', { as: 'F64', shape: [all.length], data }] as const
  if (all.every(({ reward }) => reward === undefined)) return [...columns, scores]
  const given = Float64Array.from(all, ({ reward }) => reward ?? Number.NaN)
  return [...columns, scores, ['pairs.rewards', { as: 'F64', shape: [all.length], data: given }]]
}

/** The most columns of a row: a prompt of the task and the longest response of any phase. */
function longestRow(experiment: Experiment): number {
  const { task } = trainerConfig(experiment)
  const lengths = resolvePhases(experiment).map((phase) =>
    phase.kind === 'rl' ? phase.rollout.max_response_length : task.max_response_length,
  )
  return task.max_prompt_length + Math.max(...lengths)
}

/** The tensors that these pairs must have; undefined where a file has no rows of a width that the
 * experiment allows. */
export function pairsShapes(
  { judged, asked }: WrittenPairs,
  experiment: Experiment,
  file: OpenSafetensors,
): Shapes | undefined {
  const rows = 2 * (judged.length + asked.length)
  const width = file.entries.get('pairs.input_ids')?.shape[1] ?? 0
  if (width > longestRow(experiment) || (rows > 0 && width === 0)) return undefined
  return new Map<string, ShapeOf>([
    ...COLUMNS.map((name) => [`pairs.${name}`, { dtype: 'I32', shape: [rows, width] }] as const),
    ['pairs.scores', { dtype: 'F64', shape: [rows] }],
    ...(file.entries.has('pairs.rewards')
      ? [['pairs.rewards', { dtype: 'F64', shape: [rows] }] as const]
      : []),
  ])
}

/** What contradicts itself in the header's part; undefined where nothing does. */
export function brokenPairs(
  { judged, asked, decided, queue, replayed }: WrittenPairs,
  recorded: number,
) {
  if (decided.length > asked.length)
    return `expected at most ${asked.length} verdicts in force, found ${decided.length}`
  const places = judged.length + decided.length
  const beyond = queue.find((place) => place >= places)
  if (beyond !== undefined) return `expected places below ${places}, found ${beyond}`
  if (replayed > recorded)
    return `expected at most ${recorded} recorded verdicts, found ${replayed}`
  return undefined
}

/** The preferences of a file whose tensors have the shapes of `pairsShapes`; a problem in words
 * where ids are none of the vocabulary. */
export function readPairs(
  written: WrittenPairs,
  file: OpenSafetensors,
  vocabSize: number,
): PreferencesState | string {
  const [inputIds, attentionMask, positionIds] = COLUMNS.map((name) =>
    Uint32Array.from(readTensor(file, `pairs.${name}`)),
  )
  const scores = readTensor(file, 'pairs.scores')
  const rewards = file.entries.has('pairs.rewards') ? readTensor(file, 'pairs.rewards') : undefined
  const width = file.entries.get('pairs.input_ids')?.shape[1] ?? 0
  const strange = inputIds.findIndex((id) => id >= vocabSize)
  if (strange >= 0) return `expected tokens below ${vocabSize}, found ${inputIds[strange]}`
  if (attentionMask.some((bit) => bit > 1)) return 'expected a mask of 0 and 1'
  if (positionIds.some((position) => position >= width)) return `expected positions below ${width}`
  const row = (values: Uint32Array, i: number) => values.slice(i * width, (i + 1) * width)
  let at = 0
  const candidate = ({ text, is_ended }: WrittenPairs['asked'][number]['a']): Candidate => {
    const i = at++
    return {
      row: {
        input_ids: row(inputIds, i),
        attention_mask: row(attentionMask, i),
        position_ids: row(positionIds, i),
      },
      text,
      is_ended,
      score: scores[i],
      ...(rewards && !Number.isNaN(rewards[i]) && { reward: rewards[i] }),
    }
  }
  const restored = ({ prompt, a, b }: WrittenPairs['asked'][number]): ResponsePair => {
    const first = candidate(a)
    return { prompt, a: first, b: candidate(b) }
  }
  const judged = written.judged.map(restored)
  return { ...written, judged, asked: written.asked.map(restored) }
}
