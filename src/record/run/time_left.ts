// Estimates how long the rest of a run takes: each kind of phase at its own measured speed,
// validations at their own cost. Pure.

import type { PhaseDocument } from '../../document/experiment/fields/phases.ts'
import type { Stretch } from '../../document/experiment/steered/planned.ts'

/** Between the arrivals of two steps of one phase. */
export interface Gap {
  readonly ms: number
  /** A validation belongs to the second of them. */
  readonly isValidated: boolean
}

/** The newest gaps of each phase that has begun, by its index; oldest first. */
export type Gaps = Readonly<Record<number, readonly Gap[]>>

/** Times kept of each phase: enough for some validations, few enough to follow a change. */
const MAX_GAPS = 128
/** Two steps may arrive together: gaps of less than this in all say nothing. */
const LEAST_MS = 100

export interface TimeLeft {
  /** Of the steps whose kind of phase was measured; undefined where none of them was. */
  readonly seconds: number | undefined
  /** Steps of kinds of phases that have not run yet: nobody knows how long they take. */
  readonly untimedSteps: number
  /** Some of it was measured in another phase of the same kind, or a validation has not been
   * measured yet. */
  readonly isAbout: boolean
}

export interface Pace {
  readonly step_ms: number
  /** What a validation adds; undefined where there was none. */
  readonly validation_ms: number | undefined
  /** It is of the first validation alone, in which kernels may have compiled. */
  readonly isOfFirst?: boolean
}

/** The speed of one phase, and what kind of phase that was. */
export interface MeasuredPhase {
  readonly kind: PhaseDocument['kind']
  /** All that its steps cost hangs on, as text. */
  readonly cost: string
  readonly pace: Pace
  /** Its index in the run that is timed; undefined for a phase of an earlier run. */
  readonly phase?: number
}

export function withGap(gaps: Gaps, phase: number, gap: Gap): Gaps {
  return { ...gaps, [phase]: [...(gaps[phase] ?? []), gap].slice(-MAX_GAPS) }
}

/** Whether a step with these metrics was validated. */
export const hasValidation = (metrics: object): boolean =>
  Object.keys(metrics).some((name) => name.startsWith('val-'))

/** What validations took beyond the steps themselves, each, in gaps that begin and end where none
 * is cut in two. */
function validationMs(gaps: readonly Gap[], step_ms: number): number {
  const count = gaps.filter(({ isValidated }) => isValidated).length
  return Math.max(0, sumOf(gaps) - step_ms * gaps.length) / count
}

const sumOf = (gaps: readonly Gap[]): number => gaps.reduce((sum, { ms }) => sum + ms, 0)

/** The speed of a phase; undefined where too little has arrived. A step is the lower median of the
 * gaps, and validations share what the sum is more than that. The worker queues a step before the
 * last one arrives, so a validation holds up the step before its own: a sum may begin and end only
 * where none is cut in two. The first validation may compile kernels, and counts no more once there
 * are others and it was slower. */
function paceOf(gaps: readonly Gap[] = []): Pace | undefined {
  if (sumOf(gaps) < LEAST_MS) return undefined
  const sorted = gaps.map(({ ms }) => ms).sort((a, b) => a - b)
  const step_ms = sorted[(sorted.length - 1) >> 1]
  const end = gaps.findLastIndex(({ isValidated }) => isValidated) + 1
  const whole = gaps.slice(gaps[0].isValidated ? 1 : 0, end)
  if (!whole.some(({ isValidated }) => isValidated)) return { step_ms, validation_ms: undefined }
  const all = validationMs(whole, step_ms)
  const others = whole.slice(whole.findIndex(({ isValidated }) => isValidated) + 1)
  return others.length === 0
    ? { step_ms, validation_ms: all, isOfFirst: true }
    : { step_ms, validation_ms: Math.min(all, validationMs(others, step_ms)) }
}

/** Validations of a stretch: after every `test_freq` steps and at the end of the phase; a reward
 * model has none. */
function validationsIn({ document, from, to, isEnd }: Stretch, test_freq: number | null): number {
  if (test_freq === null || document.kind === 'reward_model') return 0
  const regular = Math.floor(to / test_freq) - Math.floor(from / test_freq)
  return regular + (isEnd && to % test_freq !== 0 ? 1 : 0)
}

/** What a phase's steps cost does not hang on these. */
const costOf = ({ name: _, steps: __, stop: ___, ...rest }: PhaseDocument & { stop?: unknown }) =>
  JSON.stringify(rest)

/** The phases of a run of which enough has arrived. `phases`: its list, in which `gaps` counts. */
export const measuredPhases = (phases: readonly PhaseDocument[], gaps: Gaps): MeasuredPhase[] =>
  phases.flatMap((document, phase) => {
    const pace = paceOf(gaps[phase])
    return pace ? [{ phase, kind: document.kind, cost: costOf(document), pace }] : []
  })

/** `toCome`: from the step after `step` on. A phase that was not measured takes the speed of the
 * newest one like it, or of the newest one of its kind; `timesAs`: how many times as long its steps
 * are likely to take as those of that one. */
export function timeLeft(run: {
  readonly toCome: readonly Stretch[]
  readonly step: number
  readonly measured: readonly MeasuredPhase[]
  readonly test_freq: number | null
  readonly timesAs?: (document: PhaseDocument, measured: MeasuredPhase) => number
}): TimeLeft {
  const { toCome, step, measured, test_freq, timesAs = () => 1 } = run
  const validationMs = measured.findLast(({ pace }) => pace.validation_ms !== undefined)?.pace
    .validation_ms
  let [ms, untimedSteps, timedSteps, isAbout] = [0, 0, 0, false]
  for (const stretch of toCome) {
    const from = Math.max(stretch.from, step)
    const steps = stretch.to - from
    if (steps <= 0) continue
    const { kind } = stretch.document
    const own = measured.find(({ phase }) => phase === stretch.phase)
    const alike = measured.findLast(({ cost }) => cost === costOf(stretch.document))
    const near = own ?? alike ?? measured.findLast((other) => other.kind === kind)
    if (!near) {
      untimedSteps += steps
      continue
    }
    const validations = validationsIn({ ...stretch, from }, test_freq)
    timedSteps += steps
    const isGuess = near !== own && near !== alike
    isAbout ||= isGuess
    isAbout ||= validations > 0 && validationMs === undefined
    ms += steps * near.pace.step_ms * (isGuess ? timesAs(stretch.document, near) : 1)
    ms += validations * (near.pace.validation_ms ?? validationMs ?? 0)
  }
  const isKnown = timedSteps > 0 || untimedSteps === 0
  return { seconds: isKnown ? ms / 1000 : undefined, untimedSteps, isAbout }
}
