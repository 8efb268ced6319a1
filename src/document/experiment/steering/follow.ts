// Follows the steering of a run: its position after a number of steps, and the experiments that it
// goes through.
import type { PhaseReason } from '../../../rl/config/phase.ts'
import type { Issue } from '../fields/paths.ts'
import type { PhaseDocument } from '../fields/phases.ts'
import type { SteeringAction, SteeringEntry } from './actions.ts'

/** Where a run is after `step` steps, as far as its list of phases says. */
export interface Position {
  readonly step: number
  readonly phase: number
  readonly phase_step: number
  /** The phase was ended by hand after its last step. */
  readonly is_ended: boolean
}

/** Before the first step. */
export const BEFORE: Position = { step: 0, phase: 0, phase_step: 0, is_ended: false }

/** The position after `step` steps; undefined where the run ends before. `visit` hears what is
 * taken of which phase on the way. */
export function walk(
  phases: readonly PhaseDocument[],
  from: Position,
  step: number,
  visit: (phase: number, taken: number, isEnd: boolean) => void = () => {},
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

type WithPhases = { readonly phases: readonly PhaseDocument[] }

type Steer<T> = (
  experiment: T,
  action: SteeringAction,
  present: number,
  taken: number,
) =>
  | { readonly ok: true; readonly experiment: T; readonly ends?: PhaseReason }
  | { readonly ok: false; readonly at: string; readonly message: string }

/** The experiments that a run goes through, one more than there are entries; and the first entry
 * that cannot be obeyed, with its remedy. With `leaveOut` such an entry is reported and left out,
 * and there is no issue. Where a stop condition may end a phase early, the phase of an entry is not
 * known beforehand: then the list ends there, without an issue. */
export function followSteering<T extends WithPhases>(
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

/** What an entry makes of a run at `position`, or why it cannot be obeyed; undefined where its
 * phase is not known beforehand. */
function follow<T extends WithPhases>(
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
      message: `expected at least ${position.step}, because entries are in the order in which they take effect; got ${step}`,
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
