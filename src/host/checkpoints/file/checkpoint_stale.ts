// Writes and reads samples that wait for a later step in a file: what they are as JSON, ids and
// log-probs as tensors.
import * as z from 'zod/mini'
import { readTensor } from '../../../formats/safetensors.ts'
import type { OpenSafetensors } from '../../../formats/safetensors_header.ts'
import type { StaleBatch } from '../../../rl/train/responses/stale_samples.ts'
import type { NamedTensor, ShapeOf } from './checkpoint_models.ts'

/** Per-token arrays that a batch may have beside its ids. */
const COLUMNS = ['log_probs', 'entropy'] as const

const whole = z.int().check(z.minimum(0))
/** The part of the header about them. */
export const staleSchema = z
  .array(
    z.object({
      due: whole,
      sampled_at: whole,
      places: z.array(whole),
      columns: z.array(z.enum(COLUMNS)),
      baselines: z.optional(z.array(z.number())),
      metrics: z.optional(z.record(z.string(), z.number())),
    }),
  )
  .check(z.maxLength(64))
export type WrittenStale = z.infer<typeof staleSchema>

const nameOf = (due: number, column: string) => `stale.${due}.${column}`

/** The part of the header. */
export const writtenStale = (batches: readonly StaleBatch[]): WrittenStale =>
  batches.map((batch) => ({
    due: batch.due,
    sampled_at: batch.sampled_at,
    places: [...batch.places],
    columns: COLUMNS.filter((name) => batch[name]),
    ...(batch.baselines && { baselines: [...batch.baselines] }),
    ...(batch.metrics && { metrics: { ...batch.metrics } }),
  }))

/** Ids and numbers of all tokens. */
export const staleTensors = (batches: readonly StaleBatch[]): NamedTensor[] =>
  batches.flatMap((batch) => {
    const { due, response_ids } = batch
    const ids = {
      as: 'I32',
      shape: [response_ids.length],
      data: Int32Array.from(response_ids),
    } as const
    const columns = COLUMNS.flatMap((name): NamedTensor[] => {
      const data = batch[name]
      return data ? [[nameOf(due, name), { shape: [data.length], data }]] : []
    })
    return [[nameOf(due, 'response_ids'), ids], ...columns]
  })

/** The tensors that these batches must have. */
export const staleShapes = (
  written: WrittenStale,
  { entries }: OpenSafetensors,
): [string, ShapeOf][] =>
  written.flatMap(({ due, columns }) => {
    const ids = nameOf(due, 'response_ids')
    const shape = [entries.get(ids)?.size ?? 0]
    return [
      [ids, { dtype: 'I32', shape }] as [string, ShapeOf],
      ...columns.map((name): [string, ShapeOf] => [nameOf(due, name), { dtype: 'F32', shape }]),
    ]
  })

/** The batches of a file whose tensors have the shapes of `staleShapes`; a problem in words where
 * they contradict the run, which has done `step` steps. */
export function readStale(
  written: WrittenStale,
  file: OpenSafetensors,
  { step, vocab_size }: { readonly step: number; readonly vocab_size: number },
): StaleBatch[] | string {
  const batches: StaleBatch[] = []
  for (const { due, columns, baselines, metrics, ...rest } of written) {
    if (due <= step || rest.sampled_at > step || rest.sampled_at < 1)
      return `expected samples of an earlier step that a later one trains on, found ${rest.sampled_at} and ${due} after step ${step}`
    if (batches.some((other) => other.due === due)) return `expected one batch for step ${due}`
    const response_ids = Uint32Array.from(readTensor(file, nameOf(due, 'response_ids')))
    for (const { length } of [rest.places, baselines ?? rest.places])
      if (length === 0 || response_ids.length % length !== 0)
        return `expected ${length} rows of one length, found ${response_ids.length} tokens`
    const strange = response_ids.find((id) => id >= vocab_size)
    if (strange !== undefined) return `expected tokens below ${vocab_size}, found ${strange}`
    const own = Object.fromEntries(
      columns.map((name) => [name, Float32Array.from(readTensor(file, nameOf(due, name)))]),
    )
    const known = { ...(baselines && { baselines }), ...(metrics && { metrics }) }
    batches.push({ ...rest, ...known, due, response_ids, ...own })
  }
  return batches
}
