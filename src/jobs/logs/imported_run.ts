// Turns an imported log into a record beside the page's own runs: its metrics, and an experiment
// that says no more than is known.

import { parseExperiment } from '../../document/experiment/experiment.ts'
import { MAX_LAYERS } from '../../document/experiment/fields/model_fields.ts'
import { MAX_STEPS } from '../../document/experiment/fields/phase_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Series } from '../../host/columns/series.ts'
import { PROTOCOL_VERSION } from '../../host/protocol/protocol.ts'
import {
  RECORD_VERSION,
  type RunHeader,
  type RunSource,
  type StoredColumns,
} from '../../record/run/record.ts'
import type { RunWrite } from '../../record/run/storage.ts'
import { extendSummary } from '../../record/run/summary.ts'
import { withoutHidden } from '../../rl/fields/hidden.ts'
import { TASKS } from '../../tasks/index.ts'
import type { ImportedLog } from './base/imported_log.ts'
import { seedName } from './seed_name.ts'

const MAX_NAME = 80

/** Of a file's name: also what the lab puts before it (metricsFileName). */
const ENDING = /(?:\.metrics(?:\.thinned)?)?\.[a-z]\w*$/i

/** verl names a validation by its data source; a job of the lab calls it by the task. */
const VALIDATION = /^val-(core|aux)\/(?:understory\/)?([^/]+)\/(.*)$/

/** A task of the lab, whichever way its id is written. */
const taskIdOf = (source: string): string | undefined =>
  TASKS.find(({ id }) => id === source.replaceAll('-', '_'))?.id

interface Named {
  readonly series: ReadonlyMap<string, Series>
  /** By these names what the log calls a metric, where that is another. */
  readonly names: Readonly<Record<string, string>>
  /** The task that validations are of; undefined for one that the lab has not. */
  readonly task: string | undefined
  /** Responses to each prompt of a sampled validation; 0 without one. */
  readonly n: number
}

/** Metrics under the names by which charts ask for them. */
function namedSeries(log: ImportedLog): Named {
  const series = new Map<string, Series>()
  const names: Record<string, string> = {}
  let task: string | undefined
  let n = 0
  for (const [name, column] of log.series) {
    const [, part, source, rest] = VALIDATION.exec(name) ?? []
    const id = source === undefined ? undefined : taskIdOf(source)
    task ??= id
    if (id !== undefined) n = Math.max(n, Number(/^acc\/mean@(\d+)$/.exec(rest)?.[1] ?? 0))
    const ours = id === undefined ? name : `val-${part}/${id}/${rest}`
    series.set(ours, column)
    const theirs = log.names.get(name) ?? name
    if (theirs !== ours) names[ours] = theirs
  }
  return { series, names, task, n }
}

/** The number of layers whose policies a log of the lab's own has; the fewest where it has none, so
 * that none is made up. */
function layersIn(series: ReadonlyMap<string, Series>): number {
  const layers = [...series.keys()].flatMap((name) =>
    Number(/^layer\/entropy\/(\d+)$/.exec(name)?.[1] ?? 0),
  )
  const last = Math.max(0, ...layers)
  return last <= MAX_LAYERS ? Math.max(1, last) : 1
}

/** What is known of the run: its name, its task, its layers and how long it was, or was to be. */
function experimentOf(name: string, steps: number, { task, n, series }: Named): Experiment {
  const num_hidden_layers = layersIn(series)
  const known = {
    name: withoutHidden(name).slice(0, MAX_NAME).toWellFormed(),
    phases: [{ kind: 'rl', name: 'as logged', steps: Math.min(Math.max(1, steps), MAX_STEPS) }],
    ...(task !== undefined && { task: { id: task } }),
    model: { num_hidden_layers },
  }
  const sampled = parseExperiment({ ...known, validation: { n } })
  const parsed = sampled.ok ? sampled : parseExperiment(known)
  if (!parsed.ok) throw new RangeError(parsed.issues[0].message)
  return parsed.experiment
}

/** Its seed and the setting that it has in common with others: as a column of the log says, else as
 * its name does. */
function settingOf(
  name: string,
  { seed, group }: ImportedLog,
): Pick<RunSource, 'seed' | 'setting'> {
  const said = seedName(name)
  const [own, setting] = [seed ?? said?.seed, group ?? said?.setting]
  return { ...(own !== undefined && { seed: own }), ...(setting !== undefined && { setting }) }
}

/** Seconds since 1970 of each row, as Weights & Biases keep them. */
const TIMES = '_timestamp'
/** From 2001 to 2096: no other unit. */
const SECONDS = { least: 1e9, most: 4e9 }

/** When the first row was logged, in milliseconds. */
function begunAt({ series }: ImportedLog): number | undefined {
  const times = series.get(TIMES)
  const seconds = times?.values.subarray(0, times.length).find(Number.isFinite)
  return seconds !== undefined && seconds >= SECONDS.least && seconds <= SECONDS.most
    ? Math.round(1000 * seconds)
    : undefined
}

/** What storage is to write: a finished run of this name, without the ending of a file. `id`: of
 * the record; `now`: milliseconds since 1970; `file`: it is a run of this one, which has
 * several. */
export function importedRun(
  called: string,
  log: ImportedLog,
  made: {
    readonly id: string
    readonly now: number
    readonly version: string
    readonly file?: string
  },
): RunWrite {
  const { id, now, version, file = called } = made
  const named = namedSeries(log)
  const columns: Record<string, StoredColumns> = {}
  const summaries: Record<string, RunHeader['summaries'][string]> = {}
  const metrics: Record<string, number> = {}
  for (const [name, { steps, values, length, thinned }] of named.series) {
    columns[name] = { steps: steps.slice(0, length), values: values.slice(0, length), thinned }
    summaries[name] = extendSummary(undefined, columns[name].values)
    metrics[name] = values[length - 1]
  }
  const name = called.replace(ENDING, '')
  const begun = begunAt(log)
  const experiment = experimentOf(name, Math.max(log.step, log.planned ?? 0), named)
  const header: RunHeader = {
    id,
    record_version: RECORD_VERSION,
    preset_id: '',
    document: experiment,
    experiment,
    adapter: '',
    kernels: '',
    error: undefined,
    parent: undefined,
    versions: { understory: version, protocol: PROTOCOL_VERSION },
    started_at: now,
    ended_at: now,
    status: 'finished',
    step: log.step,
    phase: 0,
    phase_step: log.step,
    phase_switches: [{ step: 0, phase: 0, reason: 'start' }],
    steered: [],
    metrics,
    summaries,
    source: {
      kind: log.kind,
      file: file.slice(0, MAX_NAME),
      remarks: log.remarks,
      ...(Object.keys(named.names).length > 0 && { names: named.names }),
      ...(begun !== undefined && { begun }),
      ...settingOf(name, log),
      ...(log.isCut && { is_cut: true }),
    },
  }
  const items = log.generations.map((kept) => ({ run: id, kind: 'generations' as const, ...kept }))
  return { header, chunk: { run: id, part: 0, columns }, items, dropped: [] }
}
