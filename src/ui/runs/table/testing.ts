// Runs for the tests of the table; never shipped.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { TINY } from '../../../page/runs/testing.ts'
import { NO_LABELS, RECORD_VERSION } from '../../../record/run/record.ts'
import { extendSummary } from '../../../record/run/summary.ts'
import { greedyAccuracy } from '../../shown/metrics.ts'

/** A run of the smallest preset that is over. */
export function entryOf(
  id: string,
  { seed = 1, lr = 0.001, greedy }: { seed?: number; lr?: number; greedy?: number },
  labels: Partial<RunEntry['labels']> = {},
): RunEntry {
  const { experiment } = TINY
  const { actor } = experiment
  const own = { ...experiment, seed, actor: { ...actor, optim: { ...actor.optim, lr } } }
  const metric = greedyAccuracy(own.task.id)
  return {
    id,
    labels: { ...NO_LABELS, id, color: 0, name: id, ...labels },
    header: {
      id,
      record_version: RECORD_VERSION,
      preset_id: TINY.id,
      document: own,
      experiment: own,
      adapter: 'Test adapter',
      kernels: '',
      versions: { understory: '0.0.0', protocol: 1 },
      started_at: id.charCodeAt(0),
      ended_at: id.charCodeAt(0) + 2000,
      status: 'finished',
      error: undefined,
      step: 10,
      phase: 0,
      phase_step: 10,
      phase_switches: [],
      steered: [],
      metrics: greedy === undefined ? {} : { [metric]: greedy },
      summaries: greedy === undefined ? {} : { [metric]: extendSummary(undefined, [greedy]) },
      parent: undefined,
    },
  }
}
