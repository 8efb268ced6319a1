// Plans the rest of a run: its phases to come, and the changes that its document will make.
import { steerExperiment } from '../experiment.ts'
import type { PhaseDocument } from '../fields/phases.ts'
import type { Experiment } from '../schema/schema.ts'
import type { SteeringEntry } from '../steering/actions.ts'
import { BEFORE, type Position, walk } from '../steering/follow.ts'

/** Steps `from` + 1 … `to` of a run, all of one phase. */
export interface Stretch {
  /** Index of the phase in the list as it is then. */
  readonly phase: number
  readonly document: PhaseDocument
  readonly from: number
  readonly to: number
  /** The phase ends with the last of these steps. */
  readonly isEnd: boolean
}

/** The steps from a position on, with `due`, what is to be done after later steps. Conditions that
 * may end a phase early are left out: nobody knows beforehand when they hold. */
export function plannedStretches(
  experiment: Experiment,
  due: readonly SteeringEntry[] = [],
  from: Position = BEFORE,
): readonly Stretch[] {
  const stretches: Stretch[] = []
  let now = experiment
  let position: Position | undefined = from
  let { step } = from
  const visit = (phase: number, taken: number, isEnd: boolean) => {
    stretches.push({ phase, document: now.phases[phase], from: step, to: step + taken, isEnd })
    step += taken
  }
  for (const { step: after, ...action } of due) {
    position = walk(now.phases, position, Math.max(after, position.step), visit)
    // The run is over before.
    if (!position) return stretches
    const { phase, phase_step } = position
    const result = steerExperiment(now, action, phase, phase_step)
    if (!result.ok) continue
    now = result.experiment
    if (result.ends !== undefined) position = { ...position, is_ended: true }
  }
  walk(now.phases, position, Number.POSITIVE_INFINITY, visit)
  return stretches
}

/** What is known of a run, or of one that has not begun. */
export interface RunSoFar {
  /** As it is now, with all that was done. */
  readonly experiment: Experiment
  /** Of the document that does it again; what is not done yet is still to come. */
  readonly steering: readonly SteeringEntry[]
  readonly steered: readonly {
    readonly entry: SteeringEntry
    readonly refused?: string | undefined
  }[]
  readonly phase_switches: readonly {
    readonly step: number
    readonly phase: number
    readonly reason: string
  }[]
  readonly step: number
  readonly phase: number
  readonly phase_step: number
}

/** A phase that begins has its own mark. */
export const MARKS_PHASE: readonly string[] = ['next_phase', 'insert_phase', 'interrupt_phase']

type Steered = Pick<RunSoFar, 'steered' | 'phase_switches' | 'step'>

/** The step after which a person has ended the present phase, where none of the next one has been
 * reported. Steps in flight may lie before it. */
function endingAfter({ steered, phase_switches, step }: Steered): number | undefined {
  const ended = steered.findLast(
    ({ entry, refused }) => refused === undefined && MARKS_PHASE.includes(entry.kind),
  )
  if (ended === undefined || ended.entry.step < step) return undefined
  const began = phase_switches.at(-1)
  const isOfPresent = !began || began.reason === 'start' || began.step < ended.entry.step
  return isOfPresent ? ended.entry.step : undefined
}

/** A person has ended the present phase, and no step of the next one has been reported. */
export const isEnding = (run: Steered): boolean => endingAfter(run) !== undefined

const plans = new WeakMap<Experiment, { readonly of: string; readonly plan: readonly Stretch[] }>()

/** The steps in flight up to the `end` of the present phase, where it has one, and the others. */
function planFrom(
  { experiment, step, phase, phase_step }: RunSoFar,
  due: readonly SteeringEntry[],
  end: number | undefined,
): readonly Stretch[] {
  const to = end ?? step
  const document = experiment.phases[phase]
  const inFlight = to > step ? [{ phase, document, from: step, to, isEnd: true }] : []
  const taken = phase_step + to - step
  const from = { step: to, phase, phase_step: taken, is_ended: end !== undefined }
  return [...inFlight, ...plannedStretches(experiment, due, from)]
}

/** The steps that come after the last one. The same list as long as they are the same. */
export function stepsToCome(run: RunSoFar): readonly Stretch[] {
  const { experiment, steering, steered, step, phase, phase_step } = run
  const done = steered.map(({ entry }) => JSON.stringify(entry))
  // What is done after a step in flight is in the experiment already.
  const due = steering.filter(
    (entry) => entry.step >= step && !done.includes(JSON.stringify(entry)),
  )
  const end = endingAfter(run)
  // The plan stays true while a phase continues; only the place of a step in it changes.
  const of = JSON.stringify([due, phase, step - phase_step, end])
  const known = plans.get(experiment)
  const plan = known?.of === of ? known.plan : planFrom(run, due, end)
  plans.set(experiment, { of, plan })
  return plan.filter(({ to }) => to > step)
}

/** Steps of the whole run: those that were taken, and those to come. */
export const plannedTotal = (run: RunSoFar): number => stepsToCome(run).at(-1)?.to ?? run.step
