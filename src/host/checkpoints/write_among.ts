// Writes a checkpoint among those of its run: how it gets room, whether it is there whole, and
// which older ones go for it.
import type { CheckpointEntry, CheckpointProblemCode } from '../protocol/checkpoint_facts.ts'
import type { CheckpointFiles } from './file/checkpoint.ts'
import { DEFAULT_BUDGET_BYTES, retained } from './schedule.ts'

/** Bytes that a checkpoint on a full disk may free, in sizes of its own. Where that did not help,
 * something else fills the disk. */
const MOST_FREED = 2

/** What the checkpoints of a run may take. */
interface Room {
  readonly budget_bytes?: number | undefined
  /** The last steps of phases that are over, whose states go last. */
  readonly ends?: readonly number[]
}

/** Of a disk that is full, or of a person's share of it: names in browsers, codes in Node. */
const FULL = new Set(['QuotaExceededError', 'ENOSPC', 'EDQUOT'])

/** What a failed write is called in the protocol, and in a sentence. */
export function checkpointProblem(error: unknown): {
  readonly code: CheckpointProblemCode
  readonly message: string
} {
  const name = error instanceof Error || error instanceof DOMException ? error.name : ''
  const message = (error instanceof Error ? error.message : String(error)) || name
  if (FULL.has(name) || FULL.has(`${(error as { code?: unknown }).code}`))
    return { code: 'full', message }
  if (name === 'NoModificationAllowedError') return { code: 'read_only', message }
  if (name === 'CheckpointError') return { code: 'corrupt', message }
  return { code: 'other', message: message || 'unknown error' }
}

/** Writes one, and lets older ones go until those of its run keep to the budget; resolves with what
 * is left, oldest first. Throws where there is no room that older ones could make, or where it is
 * not there, whole, after it was written. */
export async function writeAmong(
  files: CheckpointFiles,
  record: string,
  step: number,
  bytes: Uint8Array<ArrayBuffer>,
  { budget_bytes = DEFAULT_BUDGET_BYTES, ends = [] }: Room = {},
): Promise<readonly CheckpointEntry[]> {
  await put(files, record, step, bytes)
  const all = await files.list(record)
  const own = all.find((entry) => entry.step === step)
  if (own?.bytes !== bytes.length)
    throw new Error(
      `the checkpoint of step ${step} was written, and ${own ? `${own.bytes} of its ${bytes.length} bytes are` : 'no file of it is'} there`,
    )
  const stay = new Set(retained(all, budget_bytes, ends))
  const gone = all.filter((entry) => !stay.has(entry.step))
  if (gone.length > 0) await files.remove(record, stepsOf(gone))
  return all.filter((entry) => stay.has(entry.step))
}

/** Where there is no room the older ones make some, least missed first. The newest stays until
 * another one is whole. */
async function put(
  files: CheckpointFiles,
  record: string,
  step: number,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  let freed = 0
  for (;;)
    try {
      return await files.write(record, step, bytes)
    } catch (error) {
      const older = (await files.list(record)).filter((entry) => entry.step < step)
      const isFull = checkpointProblem(error).code === 'full'
      if (!isFull || older.length < 2 || freed > MOST_FREED * bytes.length) throw error
      const held = older.reduce((sum, entry) => sum + entry.bytes, 0)
      const stay = new Set(retained(older, held - 1))
      const [gone = older[0]] = older.filter((entry) => !stay.has(entry.step))
      await files.remove(record, [gone.step])
      freed += gone.bytes
    }
}

const stepsOf = (entries: readonly CheckpointEntry[]) => entries.map(({ step }) => step)
