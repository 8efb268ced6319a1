// Applies a steering action to a list of phases, and says which fields may change while a run
// trains.
import type { PhaseReason } from '../../../rl/config/phase.ts'
import { asksPerson } from '../fields/pairs_fields.ts'
import type { PhaseDocument } from '../fields/phases.ts'
import type { SteeringAction } from './actions.ts'

/** The list of phases after an action, or why there is none; and what ends the present phase, where
 * the action does. */
export type EditedPhases =
  | { readonly ok: true; readonly phases: readonly PhaseDocument[]; readonly ends?: PhaseReason }
  | { readonly ok: false; readonly at: string; readonly message: string }

/** Actions of which the present phase is a part. */
const OF_PRESENT = ['next_phase', 'insert_phase', 'interrupt_phase', 'repeat_phase'] as const

/** Why an action has to wait until a reward model has taken its first step; undefined where it need
 * not. */
function untaughtReason(kind: SteeringAction['kind'], present: number): string | undefined {
  if (!(OF_PRESENT as readonly string[]).includes(kind)) return undefined
  const why =
    kind === 'repeat_phase'
      ? 'a phase can be repeated once it has begun to train'
      : 'a reward model that was never taught would reward at random'
  return `expected at least one step of phase ${present + 1} (reward_model) before it, because ${why}; got none yet`
}

/** What an action on phases makes of their list, of which `present` is the present one and has
 * taken `taken` steps. */
export function editPhases(
  phases: readonly PhaseDocument[],
  action: Exclude<SteeringAction, { kind: 'set' | 'kernels' }>,
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
  if (own.kind === 'preference' && asksPerson(own.pairs) && left > 0)
    return {
      ok: false,
      at: '',
      message: `expected a phase that can continue after another one; phase ${present + 1} is taught by your verdicts, which would be asked for again`,
    }
  const all = [phase, ...(left > 0 ? [{ ...own, steps: left }] : [])]
  return { ok: true, phases: phases.toSpliced(present + 1, 0, ...all), ends: 'insert_phase' }
}

/** Whether a field can change while phase `present` runs: live ones, and all of phases that have
 * not begun. */
export function isSteerable(
  { path, live }: { path: string; live: boolean },
  present: number,
): boolean {
  const match = /^phases\.(\d+)\./.exec(path)
  if (!match) return live
  const index = Number(match[1])
  return index > present || (index === present && live)
}
