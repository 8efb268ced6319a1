// Decides when a checkpoint is due, and which ones are kept. Pure.
import type { CheckpointEntry } from '../protocol/checkpoint_facts.ts'

export interface CheckpointSchedule {
  /** Steps between two checkpoints, at least. */
  readonly every_steps: number
  /** Milliseconds between two checkpoints, at least. */
  readonly every_ms: number
}

export const DEFAULT_SCHEDULE: CheckpointSchedule = { every_steps: 10, every_ms: 10_000 }
/** Bytes that the checkpoints of one run may take. */
export const DEFAULT_BUDGET_BYTES = 256 * 2 ** 20

/** Bytes that the checkpoints of all runs of this browser may take. */
export const DEFAULT_TOTAL_BYTES = 2 * 2 ** 30

/** Whether both have passed since the last checkpoint (or the beginning): the steps and the
 * time. */
export function isDue(
  nowMs: number,
  lastMs: number,
  step: number,
  lastStep: number,
  { every_steps, every_ms }: CheckpointSchedule,
): boolean {
  return step > lastStep && step - lastStep >= every_steps && nowMs - lastMs >= every_ms
}

/** These always stay: the newest, and the one before it should the newest be damaged. */
const NEWEST = 2

/** The steps whose checkpoints stay, oldest first, so that a run's keep to `budgetBytes`: the
 * newest two always, the first as long as it fits, and others spread over the run, recent ones
 * denser (as in record/run/kept.ts). Those at the `ends` of phases go after all others between the
 * first and the newest. */
export function retained(
  entries: readonly Pick<CheckpointEntry, 'step' | 'bytes'>[],
  budgetBytes: number,
  ends: readonly number[] = [],
): number[] {
  const kept = [...entries].sort((a, b) => a.step - b.step)
  let bytes = kept.reduce((sum, entry) => sum + entry.bytes, 0)
  while (bytes > budgetBytes && kept.length > NEWEST) {
    const [gone] = kept.splice(
      leastMissed(
        kept.map(({ step }) => step),
        ends,
      ),
      1,
    )
    bytes -= gone.bytes
  }
  return kept.map(({ step }) => step)
}

/** Index of the least useful one between the first and the newest two; the first where there is
 * none between. */
function leastMissed(steps: readonly number[], ends: readonly number[]): number {
  const newest = steps[steps.length - 1]
  const between = steps.slice(1, -NEWEST).map((_, i) => i + 1)
  const others = between.filter((i) => !ends.includes(steps[i]))
  let [least, index] = [Number.POSITIVE_INFINITY, 0]
  for (const i of others.length > 0 ? others : between) {
    const missed = (steps[i + 1] - steps[i - 1]) / Math.sqrt(newest - steps[i] + 1)
    if (missed < least) [least, index] = [missed, i]
  }
  return index
}

/** The checkpoints that go so that those of all runs keep to `totalBytes`: the oldest first, of
 * runs that `mayGo`. The newest of each run stays, so more than `totalBytes` can be left. */
export function surplusCheckpoints(
  entries: readonly CheckpointEntry[],
  totalBytes: number,
  mayGo: (record: string) => boolean,
): CheckpointEntry[] {
  const newest = new Map<string, number>()
  for (const { record, step } of entries)
    newest.set(record, Math.max(step, newest.get(record) ?? 0))
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  const free = entries
    .filter(({ record, step }) => step !== newest.get(record) && mayGo(record))
    .sort((a, b) => a.written_at - b.written_at || a.step - b.step)
  const gone: CheckpointEntry[] = []
  for (const entry of free) {
    if (bytes <= totalBytes) break
    gone.push(entry)
    bytes -= entry.bytes
  }
  return gone
}

export const newestFirst = (entries: readonly CheckpointEntry[]): CheckpointEntry[] =>
  [...entries].sort((a, b) => b.step - a.step)
