// Estimates how long an experiment takes on an adapter where it never ran: its work divided by the
// probed speed, corrected by the times of other runs there. Pure.
import {
  type StepWork,
  stepWork,
  validationWork,
} from '../../document/experiment/costs/step_work.ts'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import { PHASE_KINDS, type PhaseDocument } from '../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { plannedStretches } from '../../document/experiment/steered/planned.ts'
import { median } from '../../document/study/statistics/rliable.ts'
import type { AdapterSpeed } from '../../host/protocol/results.ts'
import { timeLeft } from '../../record/run/time_left.ts'
import type { RunPaces } from './paces.ts'

/** Kernels that a run compiles before its first step, the first run as well as one of stories. In
 * the mean each takes about as long as the probe's. */
const RUN_KERNELS = 36

/** Seconds from Train to the first step where no kernel is compiled yet. */
export const startSeconds = ({ compile_ms }: AdapterSpeed): number =>
  (RUN_KERNELS * compile_ms) / 1000

type Pace = Pick<AdapterSpeed, 'dispatch_ms' | 'round_ms' | 'gflops'>

/** Milliseconds of work at this speed. */
export const workMs = (work: StepWork, { dispatch_ms, round_ms, gflops }: Pace): number =>
  work.dispatches * dispatch_ms + work.rounds * round_ms + (1000 * work.arithmetic) / gflops

/** How much longer the steps of a kind took in earlier runs than their work says, in the median;
 * where none ran, as much longer as those of other kinds. */
export type Ratios = Readonly<Record<PhaseDocument['kind'], number>>

/** A run of one phase, out of its two texts; undefined where the phase is no experiment by itself,
 * or the texts are none of ours. */
function ofOnePhase(settings: string, cost: string): Experiment | undefined {
  try {
    const phase = { ...JSON.parse(cost), steps: 1 }
    const parsed = parseExperiment({ ...JSON.parse(settings), phases: [phase] })
    return parsed.ok ? parsed.experiment : undefined
  } catch {
    return undefined
  }
}

/** The ratios of an adapter's runs; 1 before any of them. */
export function ratiosOf(runs: readonly RunPaces[], speed: Pace): Ratios {
  const found = runs.flatMap(({ settings, phases }) =>
    phases.flatMap(({ kind, cost, pace }) => {
      const experiment = ofOnePhase(settings, cost)
      if (!experiment) return []
      const ms = workMs(stepWork(experiment, experiment.phases[0]), speed)
      return ms > 0 ? [{ kind, ratio: pace.step_ms / ms }] : []
    }),
  )
  const middle = (of: typeof found, otherwise: number) =>
    of.length > 0 ? median(of.map(({ ratio }) => ratio)) : otherwise
  const any = middle(found, 1)
  const of = (kind: PhaseDocument['kind']) =>
    middle(
      found.filter((one) => one.kind === kind),
      any,
    )
  return Object.fromEntries(PHASE_KINDS.map((kind) => [kind, of(kind)])) as Ratios
}

/** Seconds of the steps of an experiment after `step`, and their validations; from the start that
 * before the first step too. */
export function expectedSeconds(
  experiment: Experiment,
  speed: Pace,
  ratios: Ratios,
  step = 0,
): number {
  const validation_ms = workMs(validationWork(experiment), speed) * ratios.rl
  const toCome = plannedStretches(experiment, experiment.steering)
  const measured = toCome.map(({ phase, document }) => ({
    phase,
    kind: document.kind,
    cost: '',
    pace: {
      step_ms: workMs(stepWork(experiment, document), speed) * ratios[document.kind],
      validation_ms,
    },
  }))
  const { test_freq } = experiment.validation
  const first = step > 0 || test_freq === null ? 0 : validation_ms / 1000
  return first + (timeLeft({ toCome, step, measured, test_freq }).seconds ?? 0)
}
