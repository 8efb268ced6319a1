// Says which runs have come to their end: only of those can it be said how they end.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { isLive, type RunHeader } from '../../../record/run/record.ts'
import { plannedOf } from '../../shown/run_words.ts'

/** Whether a run took all its steps: no more of them come, and none that were planned are
 * missing. */
export const isOver = (header: RunHeader): boolean =>
  header.status === 'finished' || (!isLive(header.status) && header.step >= plannedOf(header))

/** Runs that are drawn as one line. */
interface Line {
  readonly entries: readonly RunEntry[]
}

/** The lines of runs that are over, and the runs that are not. */
export function endedLines<T extends Line>(
  groups: readonly T[],
): {
  readonly ended: readonly T[]
  readonly unfinished: readonly RunEntry[]
} {
  const [ended, unfinished]: [T[], RunEntry[]] = [[], []]
  for (const group of groups) {
    const over = group.entries.filter(({ header }) => isOver(header))
    if (over.length > 0) ended.push({ ...group, entries: over })
    unfinished.push(...group.entries.filter(({ header }) => !isOver(header)))
  }
  return { ended, unfinished }
}

/** Whether all runs whose task is known learn the same one, of the same data. */
export const isOneTask = (groups: readonly Line[]): boolean =>
  new Set(
    groups
      .flatMap(({ entries }) => entries)
      .filter(({ header }) => !header.source)
      .map(({ header: { document } }) => taskKey(document.task)),
  ).size < 2

/** What a run learns, as text; undefined for one of a log, which may be of any task. The runs of
 * one table of Weights & Biases are of one project. */
export function knownTask({ document, source }: RunHeader): string | undefined {
  if (!source) return taskKey(document.task)
  return source.kind === 'wandb' ? JSON.stringify({ table: source.file }) : undefined
}

const taskKey = (task: RunHeader['document']['task']): string =>
  JSON.stringify([task.id, 'data' in task ? task.data : ''])
