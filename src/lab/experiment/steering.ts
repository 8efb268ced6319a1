// Steering: what is done to a run while it goes on, as data. The document carries it, so a hand-steered run can be run again.
import * as z from 'zod/mini'
import type { PhaseReason } from '../../rl/config/phase.ts'
import { type FieldValue, filled, oneOf, show } from './fields.ts'
import type { Issue } from './paths.ts'
import type { PhaseDocument } from './schema.ts'

/** What can be done to a run. "Present" is the phase of the last step that was taken. */
export type SteeringAction =
  /** The present phase ends. */
  | { readonly kind: 'next_phase' }
  /** The present phase ends and this one begins; the rest of the list follows. */
  | { readonly kind: 'insert_phase'; readonly phase: PhaseDocument }
  /** The present phase ends and this one begins; then the steps that the present one had left, as a phase of their own. */
  | { readonly kind: 'interrupt_phase'; readonly phase: PhaseDocument }
  /** This phase begins when the steps of the present one are done; the rest of the list follows. */
  | { readonly kind: 'follow_phase'; readonly phase: PhaseDocument }
  /** The present phase once more after itself. */
  | { readonly kind: 'repeat_phase' }
  | { readonly kind: 'append_phase'; readonly phase: PhaseDocument }
  /** Of phases that have not begun. */
  | { readonly kind: 'remove_phase'; readonly index: number }
  | { readonly kind: 'move_phase'; readonly index: number; readonly to: number }
  /** A live field, or any field of a phase that has not begun; null brings its default back. */
  | { readonly kind: 'set'; readonly path: string; readonly value: FieldValue | null }

/**
 * An action that takes effect after `step` training steps, so step `step` + 1 is the first that obeys it (0 = before the
 * first). Entries of the same step take effect in the order of the list.
 */
export type SteeringEntry = { readonly step: number } & SteeringAction

export const MAX_STEERING = 64

const expected = (what: string) => (issue: { input?: unknown }) =>
  `expected ${what}, got ${show(issue.input)}`

/** Schema of the list; `phase` is that of a phase. */
export function steeringSchema(phase: z.ZodMiniType): z.ZodMiniType {
  const whole = (what: string) => {
    const error = expected(what)
    return z.int({ error }).check(z.minimum(0, { error }), z.maximum(1_000_000, { error }))
  }
  const index = whole('the index of a phase, counted from 0')
  const shapes: Readonly<Record<SteeringAction['kind'], Record<string, z.ZodMiniType>>> = {
    next_phase: {},
    insert_phase: { phase },
    interrupt_phase: { phase },
    follow_phase: { phase },
    repeat_phase: {},
    append_phase: { phase },
    remove_phase: { index },
    move_phase: { index, to: index },
    set: {
      path: z.string({ error: expected('the path of a field, e.g. actor.optim.lr') }),
      value: z.union([z.string(), z.number(), z.boolean(), z.null()], {
        error: expected('a value of the field, or null for its default'),
      }),
    },
  }
  const step = whole('a whole number of steps from 0')
  const entries = Object.entries(shapes).map(([kind, shape]) =>
    filled({}, { kind: z.literal(kind), step, ...shape }),
  )
  const error = (issue: { input?: unknown }) =>
    `expected a list of what to do after which step, got ${show(issue.input)}`
  return z
    .array(oneOf('kind', Object.keys(shapes), entries), { error })
    .check(z.maxLength(MAX_STEERING, { error: `expected at most ${MAX_STEERING} entries` }))
}

/** The list of phases after an action, or why there is none; and what ends the present phase, where the action does. */
export type EditedPhases =
  | { readonly ok: true; readonly phases: readonly PhaseDocument[]; readonly ends?: PhaseReason }
  | { readonly ok: false; readonly at: string; readonly message: string }

/** Actions of which the present phase is a part. */
const OF_PRESENT = ['next_phase', 'insert_phase', 'interrupt_phase', 'repeat_phase'] as const

/** Why an action has to wait until a reward model has taken its first step; undefined where it need not. */
function untaughtReason(kind: SteeringAction['kind'], present: number): string | undefined {
  if (!(OF_PRESENT as readonly string[]).includes(kind)) return undefined
  const why =
    kind === 'repeat_phase'
      ? 'a phase can be repeated once it has begun to train'
      : 'a reward model that was never taught would reward at random'
  return `expected at least one step of phase ${present + 1} (reward_model) before it, because ${why}; got none yet`
}

/**
 * What an action other than `set` makes of a list of phases, of which `present` is the present one and has taken `taken`
 * steps.
 */
export function editPhases(
  phases: readonly PhaseDocument[],
  action: Exclude<SteeringAction, { kind: 'set' }>,
  present: number,
  taken: number,
): EditedPhases {
  if (phases[present].kind === 'reward_model' && taken === 0) {
    const message = untaughtReason(action.kind, present)
    if (message !== undefined) return { ok: false, at: '', message }
  }
  const legal = `a phase that has not begun (${present + 1} to ${phases.length - 1})`
  const isFuture = (index: number) => index > present && index < phases.length
  const refuse = (at: string, index: number): EditedPhases => ({
    ok: false,
    at,
    message: `expected ${legal}, because what has been trained cannot be changed; got ${index}`,
  })
  switch (action.kind) {
    case 'next_phase':
      return { ok: true, phases, ends: 'next_phase' }
    case 'insert_phase':
      return {
        ok: true,
        phases: phases.toSpliced(present + 1, 0, action.phase),
        ends: 'insert_phase',
      }
    case 'interrupt_phase':
      return interrupted(phases, action.phase, present, taken)
    case 'follow_phase':
      return { ok: true, phases: phases.toSpliced(present + 1, 0, action.phase) }
    case 'repeat_phase':
      return { ok: true, phases: phases.toSpliced(present + 1, 0, phases[present]) }
    case 'append_phase':
      return { ok: true, phases: [...phases, action.phase] }
    case 'remove_phase':
      if (!isFuture(action.index)) return refuse('index', action.index)
      return { ok: true, phases: phases.toSpliced(action.index, 1) }
    case 'move_phase':
      if (!isFuture(action.index)) return refuse('index', action.index)
      if (!isFuture(action.to)) return refuse('to', action.to)
      return {
        ok: true,
        phases: phases.toSpliced(action.index, 1).toSpliced(action.to, 0, phases[action.index]),
      }
  }
}

/** The present phase in two parts, with another one between them. */
function interrupted(
  phases: readonly PhaseDocument[],
  phase: PhaseDocument,
  present: number,
  taken: number,
): EditedPhases {
  const own = phases[present]
  const left = own.steps - taken
  if (own.kind === 'reward_model' && left > 0)
    return {
      ok: false,
      at: '',
      message: `expected a phase that can continue after another one; phase ${present + 1} trains a reward model, which would start again`,
    }
  const all = [phase, ...(left > 0 ? [{ ...own, steps: left }] : [])]
  return { ok: true, phases: phases.toSpliced(present + 1, 0, ...all), ends: 'insert_phase' }
}

/** Whether a field can change while phase `present` runs: live ones, and all of phases that have not begun. */
export function isSteerable(
  { path, live }: { path: string; live: boolean },
  present: number,
): boolean {
  const match = /^phases\.(\d+)\./.exec(path)
  if (!match) return live
  const index = Number(match[1])
  return index > present || (index === present && live)
}

/** Where a run is after `step` steps, as far as its list of phases says. */
export interface Position {
  readonly step: number
  readonly phase: number
  readonly phase_step: number
  /** The phase was ended by hand after its last step. */
  readonly is_ended: boolean
}

export const BEFORE: Position = { step: 0, phase: 0, phase_step: 0, is_ended: false }

/** The position after `step` steps; undefined where the run ends before. `visit` hears what is taken of which phase on the way. */
export function walk(
  phases: readonly PhaseDocument[],
  from: Position,
  step: number,
  visit: (phase: number, taken: number, is_end: boolean) => void = () => {},
): Position | undefined {
  let { phase, phase_step, is_ended } = from
  let left = step - from.step
  while (left > 0) {
    if (is_ended || phase_step >= phases[phase].steps) {
      if (++phase === phases.length) return undefined
      phase_step = 0
      is_ended = false
    }
    const taken = Math.min(left, phases[phase].steps - phase_step)
    phase_step += taken
    left -= taken
    visit(phase, taken, phase_step === phases[phase].steps)
  }
  return { step, phase, phase_step, is_ended }
}

type Document = { readonly phases: readonly PhaseDocument[] }
type Steer<T> = (
  experiment: T,
  action: SteeringAction,
  present: number,
  taken: number,
) =>
  | { readonly ok: true; readonly experiment: T; readonly ends?: PhaseReason }
  | { readonly ok: false; readonly at: string; readonly message: string }

/**
 * The experiments that a run goes through, one more than there are entries; and the first entry that cannot be obeyed, with
 * its remedy. With `leaveOut` such an entry is told and passed over, as if it were not there, and there is no issue. Where a stop condition may end a phase early, nobody knows beforehand which phase an entry meets: then the
 * list ends there, without an issue.
 */
export function followSteering<T extends Document>(
  experiment: T,
  steering: readonly SteeringEntry[],
  steer: Steer<T>,
  mayStop: (phase: PhaseDocument) => boolean,
  leaveOut?: (index: number, issue: Issue) => void,
): { readonly experiments: readonly T[]; readonly issue?: Issue } {
  const experiments = [experiment]
  let now = experiment
  let position = BEFORE
  for (const [i, { step, ...action }] of steering.entries()) {
    const broken = (path: string, message: string): Issue => ({
      path: path === '' ? `steering.${i}` : `steering.${i}.${path}`,
      message,
    })
    const after = follow(now, position, { step, ...action } as SteeringEntry, steer, mayStop)
    if (after === undefined) break
    if ('at' in after) {
      const issue = broken(after.at, after.message)
      if (!leaveOut) return { experiments, issue }
      leaveOut(i, issue)
      continue
    }
    now = after.experiment
    position = after.position
    experiments.push(now)
  }
  return { experiments }
}

/** What an entry makes of a run at `position`, or why it cannot be obeyed; undefined where nobody knows which phase it meets. */
function follow<T extends Document>(
  now: T,
  position: Position,
  { step, ...action }: SteeringEntry,
  steer: Steer<T>,
  mayStop: (phase: PhaseDocument) => boolean,
):
  | { readonly experiment: T; readonly position: Position }
  | { readonly at: string; readonly message: string }
  | undefined {
  if (step < position.step)
    return {
      at: 'step',
      message: `expected at least ${position.step}, because entries stand in the order in which they take effect; got ${step}`,
    }
  if (step > position.step && now.phases.slice(position.phase).some(mayStop)) return undefined
  const reached = walk(now.phases, position, step)
  if (!reached) {
    const { phase, phase_step, is_ended } = position
    const left = is_ended ? 0 : Math.max(0, now.phases[phase].steps - phase_step)
    const later = now.phases.slice(phase + 1).reduce((sum, { steps }) => sum + steps, 0)
    const last = position.step + left + later
    return {
      at: 'step',
      message: `expected at most ${last}, because the run ends there; got ${step}. Lengthen a phase or leave the entry out`,
    }
  }
  const result = steer(now, action as SteeringAction, reached.phase, reached.phase_step)
  if (!result.ok) return result
  const is_ended = reached.is_ended || result.ends !== undefined
  return { experiment: result.experiment, position: { ...reached, is_ended } }
}

/** `phases.1.actor.optim.lr` is `phase 2 lr`; a critic's settings keep its name. */
function shortPath(path: string): string {
  const match = /^phases\.(\d+)\.(.*)$/.exec(path)
  const name = (match?.[2] ?? path)
    .replace(/^(actor|algorithm|rollout|validation)\./, '')
    .replace(/\boptim\./, '')
    .replaceAll('.', ' ')
  return match ? `phase ${Number(match[1]) + 1} ${name}` : name
}

const phaseWords = (phase: PhaseDocument): string =>
  phase.name ||
  (phase.kind === 'rl'
    ? `${phase.adv_estimator}, ${layerWords(phase.target_layer)}`
    : phase.kind.replaceAll('_', ' '))
const layerWords = (layer: number | 'final') =>
  layer === 'final' ? 'whole model' : `layer ${layer}`

/** An entry in a few words, for marks and lists. */
export function steeringWords(action: SteeringAction): string {
  switch (action.kind) {
    case 'next_phase':
      return 'next phase'
    case 'insert_phase':
    case 'interrupt_phase':
      return `began ${phaseWords(action.phase)}`
    case 'follow_phase':
      return `added ${phaseWords(action.phase)} after the present phase`
    case 'repeat_phase':
      return 'phase repeated'
    case 'append_phase':
      return `added ${phaseWords(action.phase)}`
    case 'remove_phase':
      return `phase ${action.index + 1} removed`
    case 'move_phase':
      return `phase ${action.index + 1} moved to ${action.to + 1}`
    case 'set':
      return `${shortPath(action.path)} ${action.value === null ? 'as default' : action.value}`
  }
}
