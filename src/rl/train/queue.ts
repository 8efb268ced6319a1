// Queues one step of any kind: its work, what is measured after it, and the promise of its result.
import type { Gpu } from '../../kernels/device/gpu.ts'
import { hasStop, isPaired, keepsReference, type Phase, trainsActor } from '../config/phase.ts'
import { validatesBefore } from '../config/validation.ts'
import { isShortInner } from '../look/moments.ts'
import type { Observation } from '../look/observation.ts'
import { computeThroughputMetrics } from '../metrics/data_metrics.ts'
import { distillStep } from './distilled/distill_step.ts'
import { preferenceStep } from './paired/preference_step.ts'
import { validationSize } from './parts/memory.ts'
import type { PendingStep, StepResult } from './parts/step_result.ts'
import { type Validated, validate } from './responses/validation.ts'
import { rewardModelStep } from './reward_model_phase.ts'
import { measureParts } from './stages/parts_now.ts'
import { measureReadings } from './stages/readings_now.ts'
import type { StepNumbers, TakenStep } from './stages/taken_step.ts'
import { traceLayers } from './stages/token_trace.ts'
import { isValidationDue, type Training } from './stages/training.ts'
import { reinforcementStep } from './step.ts'
import { supervisedStep } from './supervised_step.ts'

/** Step 0: validation before training, where that is asked for. */
export async function queueStepZero(training: Training): Promise<PendingStep> {
  const { gpu, config, observer, progress } = training
  progress.is_started = true
  beginStage(training)
  await observer.prepare()
  training.isMoment = observer.takesMoment({ steps: 0, planned: 0 }, false, isShort(training))
  const { isMoment } = training
  const observing = isMoment || observer.isDue(0) ? await observe(training) : undefined
  if (isMoment) observer.tookMoment(observing?.dispatches ?? 0, true)
  const validation = validatesBefore(config.validation) ? await validateNow(training) : undefined
  const metrics = { ...validation?.metrics, ...(await limitDispatches(gpu)) }
  const position = { step: 0, phase: 0, phase_step: 0 }
  const reason = progress.takeReason()
  const result = { ...position, metrics, samples: [], ...generationsOf(validation), ...reason }
  const numbers = Promise.resolve({ ...result, ...(isMoment && { isMoment }) })
  return { result: observing ? withObservation(numbers, observing.reading) : numbers }
}

/** Queues the next step of the current phase; returns once its last GPU work is submitted. */
export async function queueStep(training: Training): Promise<PendingStep> {
  const { gpu, responder, observer, progress } = training
  // A run that continues from a checkpoint has no step 0.
  await observer.prepare()
  const started = performance.now()
  const { dispatches, submits } = gpu.counts
  const { current } = progress
  const lr = progress.beginStep()
  training.isMoment = isMomentDue(training)
  const taken = await takeStep(training, current, lr)
  const { reading, tracing } = taken
  reading.catch(() => {}) // validation reports a device that is lost meanwhile
  tracing?.table.catch(() => {})
  const epoch = isPaired(current) ? undefined : responder.data.epoch
  const { step, phase, phase_step } = progress
  const position = { step, phase, phase_step, ...progress.takeReason() }
  const work = {
    'perf/dispatches': gpu.counts.dispatches - dispatches,
    'perf/submits': gpu.counts.submits - submits,
  }
  const trace = tracing && (await traceLayers(training, tracing))
  const { isMoment } = training
  const before = gpu.counts.dispatches
  const isWatched = observer.isDue(step) || (observer.isAsked && isShort(training))
  const observing = isMoment || isWatched ? await observe(training) : undefined
  countMoment(training, before - dispatches, observing?.dispatches ?? 0)
  const isValidated = isValidationDue(training)
  const validation = isValidated ? await validateNow(training) : undefined
  const parts = isValidated ? await measureParts(training) : undefined
  const limits = await limitDispatches(gpu)
  const skipped = countSkipped(training, reading)
  const arriving = Promise.all([reading, trace?.table, skipped])
  const numbers = arriving.then(([numbers, trace, skippedTotal]) => ({
    ...report(
      { position, epoch, started, taken, work: { ...work, ...limits }, validation },
      numbers,
      skippedTotal,
    ),
    ...(trace && { trace }),
    ...(isMoment && { isMoment }),
  }))
  const seen = parts ? withParts(training, parts, observing?.reading) : observing?.reading
  const result = seen ? withObservation(numbers, seen) : numbers
  result.catch(() => {}) // its reader may come late
  training.last = result
  if (!trainsActor(current) || !hasStop(current.stop)) return { result }
  return { result: Promise.resolve(await judge(training, await result, isValidated)) }
}

/** One step of the phase's kind. */
function takeStep(training: Training, phase: Phase, lr: number): TakenStep | Promise<TakenStep> {
  if (phase.kind === 'rl') return reinforcementStep(training, phase, lr)
  if (phase.kind === 'sft') return supervisedStep(training, phase, lr)
  if (phase.kind === 'preference') return preferenceStep(training, phase, lr)
  if (phase.kind === 'distill') return distillStep(training, phase, lr)
  return rewardModelStep(training, phase, lr)
}

/** What is known of a step when its work is queued. */
interface Queued {
  readonly position: Pick<StepResult, 'step' | 'phase' | 'phase_step' | 'phase_started'>
  readonly epoch: number | undefined
  readonly started: number
  readonly taken: TakenStep
  readonly work: Record<string, number>
  readonly validation: Validated | undefined
}

/** The result of a step whose numbers have arrived. */
function report(
  { position, epoch, started, taken, work, validation }: Queued,
  { metrics, scored_pairs, nonFinite }: StepNumbers,
  skippedUpdatesTotal: number,
): StepResult {
  const { samples, rollout } = taken
  const seconds = (performance.now() - started) / 1000
  return {
    ...position,
    metrics: {
      'training/global_step': position.step,
      ...(epoch !== undefined && { 'training/epoch': epoch }),
      ...metrics,
      'training/skipped_updates_total': skippedUpdatesTotal,
      ...work,
      ...validation?.metrics,
      ...(rollout && computeThroughputMetrics(rollout, { step: seconds })),
      'timing_s/step': seconds,
    },
    samples,
    ...generationsOf(validation),
    ...(scored_pairs && { scored_pairs }),
    ...(nonFinite && { nonFinite }),
  }
}

/** Adds the updates that this step skips to those of the steps before. */
function countSkipped(training: Training, reading: Promise<StepNumbers>): Promise<number> {
  const skipped = Promise.all([training.skipped_updates, reading]).then(
    ([before, { metrics }]) => before + metrics['training/skipped_updates'],
  )
  training.skipped_updates = skipped
  return skipped
}

/** Ends the phase where one of its stop conditions holds; its last step is then validated, as the
 * last one always is. */
async function judge(
  training: Training,
  result: StepResult,
  isValidated: boolean,
): Promise<StepResult> {
  const { config, progress } = training
  const reason = progress.judge(result.metrics, config)
  if (!reason || isValidated || config.validation.test_freq === null) return result
  const last = await validateNow(training)
  return { ...result, metrics: { ...result.metrics, ...last.metrics }, ...generationsOf(last) }
}

/** A stage that is compared with its beginning starts from a frozen copy of the policy. */
export function beginStage({ parts, progress }: Training): void {
  if (keepsReference(progress.current) && parts.actor.tensors.reference) parts.actor.setReference()
}

/** Whether the present phase is looked at in every step. */
export const isShort = ({ config, progress }: Training): boolean =>
  isShortInner(progress.current, config.model.num_hidden_layers)

/** Whether a step is one to look back to, and may be: one of a short inner phase, the last of its
 * phase, the first of another one, or one that validates. */
function isMomentDue(training: Training): boolean {
  const { config, observer, progress } = training
  const { step, phase, phase_step, current } = progress
  const isEnd = phase_step === current.steps || (phase_step === 1 && phase > 0)
  const runIsShort = isShort(training)
  if (!isEnd && !runIsShort && !isValidationDue(training)) return false
  const planned = config.phases.reduce((sum, { steps }) => sum + steps, 0)
  return observer.takesMoment({ steps: step - 1, planned }, isEnd, runIsShort)
}

/** Tells what a moment cost: what was `observed`, and what tracing added to the step's `own`
 * dispatches. */
function countMoment(training: Training, own: number, observed: number): void {
  const { observer, progress, plainStep, isMoment } = training
  const { phase } = progress
  if (!isMoment) training.plainStep = { phase, dispatches: own }
  else
    observer.tookMoment(
      observed + (plainStep?.phase === phase ? own - plainStep.dispatches : 0),
      isShort(training),
    )
}

/** Encodes an observation of the present weights, on what they were trained on last. `dispatches`:
 * without those of lenses, which are no part of a moment. */
export async function observe(training: Training): Promise<{
  readonly reading: Promise<Observation>
  readonly dispatches: number
}> {
  const { gpu, observer, responder, parts, seen, isMoment } = training
  const { batch, rows } = seen ?? {
    batch: responder.heldOut(parts.actor.size.probeRows),
    rows: 'held_out' as const,
  }
  const before = gpu.counts.dispatches
  const observed = await observer.observe(batch, rows, isMoment)
  const { dispatches } = gpu.counts
  const readings = await measureReadings(training, batch)
  observer.besides(gpu.counts.dispatches - dispatches)
  const reading = readings ? withReadings(observed.reading, readings) : observed.reading
  reading.catch(() => {}) // its reader may come late
  return { reading, dispatches: dispatches - before }
}

/** What lenses say beside what else was observed. */
async function withReadings(
  observed: Promise<Observation>,
  reading: NonNullable<Awaited<ReturnType<typeof measureReadings>>>,
): Promise<Observation> {
  const observation = await observed
  const { readings, refused, cost_ms } = await reading
  const all = [observation.refused, refused].flatMap((line) => line ?? [])
  return {
    ...observation,
    ...(readings && readings.length > 0 && { readings }),
    cost_ms: { ...observation.cost_ms, ...cost_ms },
    ...(all.length > 0 && { refused: all.join('\n') }),
  }
}

function validateNow({ gpu, config, responder, progress }: Training): Promise<Validated> {
  gpu.stage('testing')
  const { rollout } = responder.sampler(validationSize(config))
  return validate(gpu, rollout, config, progress.step)
}

/** Cuts what took too long in this step, so that no watchdog fires. Waits for the GPU in the first
 * steps of a phase alone. */
async function limitDispatches(gpu: Gpu): Promise<Record<string, number>> {
  const limits = await gpu.settleDispatches()
  if (!limits) return {}
  return {
    'perf/longest_dispatch_ms': limits.longest_ms,
    'perf/split_dispatches': limits.split_dispatches,
  }
}

/** The answers of an evaluation as a part of a step's result, where it has any. */
const generationsOf = (validated: Validated | undefined): Pick<StepResult, 'generations'> =>
  validated && validated.generations.length > 0 ? { generations: validated.generations } : {}

/** What each part does beside what else was observed, if anything was. */
async function withParts(
  { config }: Training,
  { parts, refused }: Pick<Observation, 'parts' | 'refused'>,
  reading: Promise<Observation> | undefined,
): Promise<Observation> {
  const { num_hidden_layers } = config.model
  const observed = (await reading) ?? {
    num_hidden_layers,
    tokens: 0,
    mean: {},
    std: {},
    layer: num_hidden_layers,
    lenses: [],
    cost_ms: {},
  }
  const all = [observed.refused, refused].flatMap((line) => line ?? [])
  return {
    ...observed,
    ...(parts && { parts }),
    ...(all.length > 0 && { refused: all.join('\n') }),
  }
}

/** A step's numbers with the observation after it, which comes later. */
async function withObservation(
  numbers: Promise<StepResult>,
  reading: Promise<Observation>,
): Promise<StepResult> {
  return { ...(await numbers), observation: await reading }
}
