// lab record: writes a run as the page's worker would have posted it, in one file that the page can
// play.

import { dirname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { version as understoryVersion } from '../../package.json'
import { isPairedDocument } from '../document/experiment/fields/phases.ts'
import { taskOf } from '../document/experiment/fields/task_fields.ts'
import { innerLayer, resolvePhases } from '../document/experiment/resolve.ts'
import type { Experiment } from '../document/experiment/schema/schema.ts'
import { trainerConfig } from '../document/experiment/trainer_config.ts'
import {
  OBSERVED_GROUPS,
  type ObservationRequest,
  type ObservedGroup,
} from '../host/protocol/observation.ts'
import type { LabError, LabEvent } from '../host/protocol/protocol.ts'
import { vocabularyOf } from '../host/protocol/vocabulary.ts'
import { systemClock } from '../host/worker/base/session_host.ts'
import { SteeredRun } from '../host/worker/base/steered_run.ts'
import { UNMEASURED } from '../host/worker/kernels/run_kernels.ts'
import { type RunDevice, Session } from '../host/worker/session.ts'
import { Gpu } from '../kernels/device/gpu.ts'
import { isRecorded, type RecordedEvent, type Recording } from '../record/files/recorded.ts'
import { readRecording, writeRecording } from '../record/files/recording.ts'
import { largestTensor, steeredEngine } from '../rl/train/engine.ts'
import { type Command, LabFailure, NO_ADAPTER_TEXT, UsageError } from './base/command.ts'
import { openDawn } from './base/dawn.ts'
import { commandLine, text } from './base/declare.ts'
import { reason, replaceFile, statOf } from './base/disk.ts'
import { createProgress } from './base/progress.ts'
import { print, tell } from './base/terminal.ts'
import { webgpuVersion } from './base/webgpu_version.ts'
import { changeOf } from './input/changed_fields.ts'
import { readExperiment } from './input/experiment_source.ts'
import { readGivenModel } from './input/given_model.ts'
import { startFolder } from './input/model_start.ts'
import { readArguments } from './options/read.ts'
import { CHANGE_OPTIONS } from './options/shared.ts'
import { withModel } from './train/begun_experiment.ts'

/** A page fetches a recording whole before it plays it. */
const MAX_GZIP_BYTES = 300_000
const OBSERVED_STEPS = 12
const LENSES = 2
/** Responses of a step that are kept, in whole groups: more than a person looks at. */
const MAX_RESPONSES = 64
type Weights = Awaited<ReturnType<typeof readGivenModel>>['weights']
/** The only run of the session. */
const RUN = 1

const LINE = commandLine({
  name: 'record',
  takes: '<experiment>',
  summary: 'trains, and writes the events of the run as one file that the page plays',
  groups: {
    Options: { out: text('FILE', 'the recording'), ...CHANGE_OPTIONS },
  },
  examples: ['record first-steps --out public/recordings/first-steps.json'],
})

export const record: Command = {
  line: LINE,
  run: async (args) => {
    const { source, out, change } = await readOptions(args)
    const named = readExperiment(source, change)
    refuse(named)
    refuseFile(out)
    // An experiment may begin with a model that is shipped.
    const folder = await startFolder(named)
    const given =
      folder === undefined ? undefined : await readGivenModel(folder, taskOf(named.task).tokenizer)
    return recordExperiment(given ? withModel(named, given) : named, out, given?.weights)
  },
}

async function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(LINE, args)
  const { out } = values
  if (positionals.length !== 1) throw new UsageError('record takes one experiment')
  if (out === undefined) throw new UsageError('record needs --out FILE')
  return { source: positionals[0], out, change: await changeOf(values, {}) }
}

/** What cannot become a file is said before the training, not after it. */
function refuseFile(out: string): void {
  if (statOf(out)?.isDirectory()) throw new LabFailure(`--out: ${out} is a folder; name a file`)
  if (!statOf(dirname(out))?.isDirectory())
    throw new LabFailure(`--out: there is no folder ${dirname(out)} to write a file into`)
}

/** A recording shows the experiment that it began with, and cannot answer questions. */
function refuse({ steering, phases }: Experiment): void {
  if (steering.length > 0)
    throw new LabFailure('steering: a recording is of a run that is left alone; take it out')
  const human = phases.findIndex(
    (phase) => isPairedDocument(phase) && phase.pairs.source === 'human',
  )
  if (human >= 0)
    throw new LabFailure(`phases.${human}.pairs.source: a recording asks nobody; use 'judge'`)
}

/** What a visitor is to see of the inside: everything, of a few steps, and the layer that an inner
 * phase trains against the others. */
const observation = (experiment: Experiment): ObservationRequest => ({
  groups: Object.keys(OBSERVED_GROUPS) as ObservedGroup[],
  layer: innerLayer(experiment, 0) ?? Math.floor(experiment.model.num_hidden_layers / 2),
  lens: { held_out: LENSES, samples: [] },
  tokens: false,
  token_layers: false,
  every: Math.ceil(experiment.phases.reduce((sum, { steps }) => sum + steps, 0) / OBSERVED_STEPS),
})

/** Steps that are traced token by token: the middle and the last of each phase of reinforcement.
 * The very first is requested at the start. */
function tracedSteps(experiment: Experiment): ReadonlySet<number> {
  const traced = new Set<number>()
  let first = 1
  for (const { kind, steps } of resolvePhases(experiment)) {
    if (kind === 'rl') {
      traced.add(first + Math.floor(steps / 2))
      traced.add(first + steps - 1)
    }
    first += steps
  }
  return traced
}

/** The event with as many responses as are kept. */
function withFewer(event: RecordedEvent, n: number): RecordedEvent {
  const kept = Math.max(1, Math.floor(MAX_RESPONSES / n)) * n
  if (event.type === 'samples') return { ...event, samples: event.samples.slice(0, kept) }
  if (event.type !== 'trace') return event
  return { ...event, table: { ...event.table, samples: event.table.samples.slice(0, kept) } }
}

async function device(
  gpu: Gpu,
  experiment: Experiment,
  weights: Weights | undefined,
): Promise<RunDevice> {
  return {
    adapter: gpu.facts,
    lost: gpu.lost,
    // Default kernels, which run everywhere.
    ...UNMEASURED,
    start: async (matmul, onProgress) => {
      const trainer = await SteeredRun.begin(steeredEngine(gpu, matmul, onProgress), experiment)
      if (weights) trainer.trainer.importWeights(weights)
      return {
        trainer,
        counts: gpu.counts,
        memory: () => gpu.memory(),
        profile: (work) => gpu.profile(work),
      }
    },
    free: async () => gpu.destroy(),
  }
}

async function recordExperiment(
  experiment: Experiment,
  out: string,
  weights: Weights | undefined,
): Promise<number> {
  const dawn = await openDawn()
  if (!dawn) throw new LabFailure(NO_ADAPTER_TEXT)
  const gpu = await Gpu.open({ gpu: dawn, largest: largestTensor([trainerConfig(experiment)]) })
  const adapter = gpu.facts
  tell(`${experiment.name ?? 'unnamed'}, seed ${experiment.seed}, on ${adapter.description}`)
  const told = await watch(gpu, experiment, weights)
  const start = told[0]?.at_ms ?? 0
  const text = writeRecording({
    experiment,
    adapter,
    date: new Date().toISOString().slice(0, 10),
    versions: { understory: understoryVersion, webgpu: webgpuVersion, node: process.version },
    tokens: vocabularyOf(experiment.task).tokens,
    events: told.map(({ at_ms, event }) => ({ at_ms: at_ms - start, event })),
  })
  const read = readRecording(text)
  if (!read.ok) throw new Error(`what was recorded cannot be read: ${read.problem}`)
  const bytes = gzipSync(text).length
  const size = `${Math.round(bytes / 1000)} kB with gzip`
  if (bytes > MAX_GZIP_BYTES)
    throw new LabFailure(
      `The recording has ${size}, more than ${MAX_GZIP_BYTES / 1000} kB: record fewer steps or smaller batches`,
    )
  try {
    replaceFile(out, text)
  } catch (error) {
    throw new LabFailure(`--out: ${reason(error)}`)
  }
  print(`Wrote ${out}: ${read.recording.events.length} events, ${size}`)
  return 0
}

/** Runs it once through the session that the worker runs, and keeps what that says. */
async function watch(
  gpu: Gpu,
  experiment: Experiment,
  weights: Weights | undefined,
): Promise<Recording['events']> {
  const told: Recording['events'][number][] = []
  const traced = tracedSteps(experiment)
  const progress = createProgress()
  const totalSteps = experiment.phases.reduce((sum, { steps }) => sum + steps, 0)
  const phases = resolvePhases(experiment)
  let failed: LabError | undefined
  const post = (event: LabEvent) => {
    if (event.type === 'failed') failed = event.error
    if (event.type === 'step') {
      const { step, phase, metrics } = event
      progress.show({ step, totalSteps, phase: phases[phase].name, metrics })
      // The next step is on its way already.
      if (traced.has(step + 2)) session.handle({ type: 'trace' })
    }
    if (!isRecorded(event)) return
    const { run: _, ...own } = event
    const kept = withFewer(own, experiment.rollout.n)
    told.push({ at_ms: performance.now(), event: structuredClone(kept) })
  }
  const session = new Session({
    open: async () => gpu.facts,
    prepare: () => device(gpu, experiment, weights),
    version: `Understory ${understoryVersion}`,
    peak: async () => undefined,
    benchmark: () => Promise.reject(new Error('a recording measures nothing')),
    post,
    ...systemClock,
  })
  session.handle({
    type: 'start',
    run: RUN,
    record: 'recording',
    experiment,
    paused: false,
    observe: observation(experiment),
  })
  session.handle({ type: 'trace' })
  await session.idle
  progress.end()
  if (failed) throw new LabFailure(failed.message)
  return told
}
