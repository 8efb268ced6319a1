// Checks interventions and readings: folders with expected.safetensors that name a model case
// beside them.
import type { Context } from './base/fixture.ts'
import type { Check } from './base/report.ts'
import { ablationChecks } from './interventions/ablation_checks.ts'
import { attentionChecks, attributionChecks } from './interventions/attention_checks.ts'
import { gpuLensChecks, gpuReadingChecks } from './interventions/gpu_lens_checks.ts'
import { gpuRunner } from './interventions/gpu_runner.ts'
import {
  type InterventionCase,
  openInterventionCase,
  referenceRunner,
} from './interventions/intervention_case.ts'
import { jacobianChecks, lensChecks, tunedFitChecks } from './interventions/lens_checks.ts'
import { patchChecks } from './interventions/patch_checks.ts'
import { readingChecks } from './interventions/reading_checks.ts'
import {
  jointSteeringChecks,
  steeringChecks,
  steeringGradientChecks,
} from './interventions/steering_checks.ts'
import { transplantChecks } from './interventions/transplant_checks.ts'

/** Passes that a runner makes. */
const PASSES = {
  ablations: ablationChecks,
  patching: patchChecks,
  steering: steeringChecks,
  lenses: lensChecks,
}
/** What the float64 reference alone has. */
const REFERENCE = {
  attention: attentionChecks,
  attribution: attributionChecks,
  'steering gradients': steeringGradientChecks,
  'joint steering': jointSteeringChecks,
  'tuned lens': tunedFitChecks,
  'Jacobian lens': jacobianChecks,
  transplants: transplantChecks,
  readings: readingChecks,
}

/** What the kernels have besides passes. */
const ON_GPU = { 'lenses on the GPU': gpuLensChecks, 'readings on the GPU': gpuReadingChecks }

/** The checks of one folder. What cannot be run, and arrays and settings that nothing reads, are
 * failed checks. */
export async function* interventionCase(
  folder: string,
  { gpu, ...pinned }: Context,
): AsyncGenerator<Check> {
  const c = await openInterventionCase(folder, pinned)
  for (const runner of [referenceRunner(c), ...(gpu ? [gpuRunner(c, gpu)] : [])])
    for (const [section, checks] of Object.entries(PASSES))
      yield* guarded(c, section, checks(c, runner))
  for (const [section, checks] of Object.entries(REFERENCE)) yield* guarded(c, section, checks(c))
  if (gpu)
    for (const [section, checks] of Object.entries(ON_GPU))
      yield* guarded(c, section, checks(c, gpu))
  const nothing = { actual: undefined, expected: 'a computation', tolerance: 'exact' } as const
  const unread = [...c.expected.unread(), ...c.expected.json.unused()]
  const outputs = Object.fromEntries(unread.map((name) => [name, nothing]))
  yield { case: `${c.name}/unknown arrays`, on: 'driver', outputs }
}

/** A section that cannot be run is a failed check. */
async function* guarded(
  c: InterventionCase,
  section: string,
  checks: Iterable<Check> | AsyncIterable<Check>,
): AsyncGenerator<Check> {
  try {
    yield* checks
  } catch (error) {
    const problem = error instanceof Error ? `${error.name}: ${error.message}` : `${error}`
    const failed = { actual: problem, expected: 'no error', tolerance: 'exact' } as const
    yield { case: `${c.name}/${section}`, on: 'driver', outputs: { [section]: failed } }
  }
}
