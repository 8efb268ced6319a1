// Lists the runs of the studies that this browser keeps as the table of runs shows them: what their
// results hold, and nothing else.
import { decodeLink, encodeLink } from '../../document/links/link.ts'
import type { PlannedRun } from '../../document/study/queue.ts'
import type { RunResult } from '../../document/study/results.ts'
import { Series } from '../../host/columns/series.ts'
import { PROTOCOL_VERSION } from '../../host/protocol/protocol.ts'
import { NO_LABELS, RECORD_VERSION, RUN_COLORS, type RunHeader } from '../../record/run/record.ts'
import { extendSummary, lastOnly } from '../../record/run/summary.ts'
import type { RunEntry } from '../runs/library/library_store.ts'
import { everyRunOf } from './kept_studies.ts'
import type { StudyState } from './study_state.ts'
import type { KeptStudy } from './study_storage.ts'

/** A run of a study, and its curves as far as the study keeps them. */
export interface StudyRun {
  readonly entry: RunEntry
  readonly columns: ReadonlyMap<string, Series>
}

type OneStudy = Pick<KeptStudy, 'id' | 'study'>

/** The open study and the others, by name: a run that several have is listed once, and a copy is
 * called after what it is a copy of. */
const inOrder = ({ id, study, others }: Pick<StudyState, 'id' | 'study' | 'others'>): OneStudy[] =>
  [...(study ? [{ id, study }] : []), ...others].toSorted((a, b) =>
    a.study.name.localeCompare(b.study.name, 'en', { numeric: true }),
  )

const known = new WeakMap<RunResult, { readonly of: string; readonly run: StudyRun }>()

/** A run that did not change is the same object as before. */
export function studyRuns(
  state: Pick<StudyState, 'id' | 'study' | 'others' | 'results'>,
): readonly StudyRun[] {
  const left = new Map(state.results.map((result) => [result.fingerprint, result]))
  return inOrder(state).flatMap(({ id, study }) =>
    [...everyRunOf(study)].flatMap(([fingerprint, planned]) => {
      const result = left.get(fingerprint)
      if (!result || !left.delete(fingerprint)) return []
      const of = `${id}\n${study.name}\n${planned.arm.name}`
      const before = known.get(result)
      if (before?.of === of) return [before.run]
      const run = runOf({ id, study }, planned, result)
      known.set(result, { of, run })
      return [run]
    }),
  )
}

const presets = new WeakMap<OneStudy['study'], string>()

/** The preset that the settings of a study differ from. */
function presetOf(study: OneStudy['study'], { arm }: PlannedRun): string {
  const found =
    presets.get(study) ??
    (typeof study.base === 'string' ? study.base : decodeLink(encodeLink(arm.experiment)).preset_id)
  presets.set(study, found)
  return found
}

function runOf({ id: ofStudy, study }: OneStudy, planned: PlannedRun, result: RunResult): StudyRun {
  const { arm, seed, experiment } = planned
  const id = `${ofStudy}/${result.fingerprint}`
  const step = result.costs.responses.at(-1)?.[0] ?? 0
  const phase = experiment.phases.length - 1
  const before = experiment.phases.slice(0, phase).reduce((sum, { steps }) => sum + steps, 0)
  const header: RunHeader = {
    id,
    record_version: RECORD_VERSION,
    preset_id: presetOf(study, planned),
    document: experiment,
    experiment,
    adapter: result.adapter,
    kernels: '',
    versions: { understory: '', protocol: PROTOCOL_VERSION },
    started_at: Number.NaN,
    ended_at: undefined,
    status: result.status,
    error: undefined,
    step,
    phase,
    phase_step: Math.max(0, step - before),
    phase_switches: [],
    steered: [],
    parent: undefined,
    study: { id: ofStudy, name: study.name, arm: arm.name, seconds: result.seconds },
    ...numbersOf(result),
  }
  const color = seed % RUN_COLORS.length
  return {
    entry: { id, header, labels: { ...NO_LABELS, id, color } },
    columns: columnsOf(result),
  }
}

/** The last values, and what lies between where a result has a metric from the first step on. */
function numbersOf({ series, begins }: RunResult): Pick<RunHeader, 'metrics' | 'summaries'> {
  const metrics: Record<string, number> = {}
  const summaries: Record<string, RunHeader['summaries'][string]> = {}
  for (const [name, curve] of Object.entries(series)) {
    const last = curve.at(-1)?.[1]
    if (last === undefined) continue
    metrics[name] = last
    // Of other metrics a few points are kept, and none of a warm start.
    const isWhole = begins === 0 && name.startsWith('val-')
    summaries[name] = isWhole
      ? extendSummary(
          undefined,
          curve.map(([, value]) => value),
        )
      : lastOnly(last, curve.length)
  }
  return { metrics, summaries }
}

const columnsOf = ({ series }: RunResult): ReadonlyMap<string, Series> =>
  new Map(
    Object.entries(series).map(([name, curve]) => [
      name,
      Series.of(
        Float64Array.from(curve, ([step]) => step),
        Float64Array.from(curve, ([, value]) => value),
      ),
    ]),
  )
