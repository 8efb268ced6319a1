// Checks trajectories of policies: supervised, GRPO, and BuPO's two phases.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { computeAdvantages } from '../../src/rl/estimators/advantages.ts'
import type { Check } from '../base/report.ts'
import { PRODUCTION } from '../base/tolerances.ts'
import { inputOutputs } from './input_outputs.ts'
import { check, type ModelCase } from './model_case.ts'
import { policyRunRef, supervisedRunRef } from './reference_runs.ts'
import { policyRunGpu, supervisedRunGpu } from './trainer_runs.ts'
import { runChecks } from './trajectory_check.ts'
import { type PolicyPlan, readPolicyPlan, readSupervisedPlan } from './trajectory_plan.ts'

/** The trajectories of policies that a case has. */
export async function* trajectoryChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  if (c.expected.has('traj.sft.input_ids')) {
    const plan = readSupervisedPlan(c)
    yield inputCheck(c, 'sft')
    yield* runChecks(c, 'sft', supervisedRunRef(c, plan), 'reference')
    if (gpu) yield* runChecks(c, 'sft', await supervisedRunGpu(c, gpu, plan), 'gpu')
  }
  for (const tag of ['grpo', 'bupo']) {
    if (!c.expected.has(`traj.${tag}.input_ids`)) continue
    const plan = readPolicyPlan(c, tag)
    yield inputCheck(c, tag)
    yield advantageCheck(c, plan)
    yield* runChecks(c, tag, policyRunRef(c, plan), 'reference')
    if (gpu) yield* runChecks(c, tag, await policyRunGpu(c, gpu, plan), 'gpu')
  }
}

const inputCheck = (c: ModelCase, tag: string): Check =>
  check(c, `traj.${tag}.inputs`, 'driver', inputOutputs(c.expected, `traj.${tag}`))

/** GRPO advantages of every batch from its rewards, some rows without division by the std (Dr.
 * GRPO). */
function advantageCheck(c: ModelCase, { tag, batches, rows }: PolicyPlan): Check {
  const { expected } = c
  const golden = expected.numbers(`traj.${tag}.advantages`)
  const rewards = expected.numbers(`traj.${tag}.token_level_rewards`)
  const mask = expected.numbers(`traj.${tag}.response_mask`)
  const group = expected.numbers(`traj.${tag}.group`)
  const byStd = expected.numbers(`traj.${tag}.norm_adv_by_std`)
  const count = golden.length / batches
  const response_length = count / rows
  const actual = new Float64Array(golden.length)
  for (let i = 0; i < batches; i++) {
    const input = {
      token_level_rewards: rewards.subarray(i * count, (i + 1) * count),
      response_mask: mask.subarray(i * count, (i + 1) * count),
      response_length,
      index: group.subarray(i * rows, (i + 1) * rows),
    }
    const [withStd, without] = [true, false].map(
      (norm_adv_by_std_in_grpo) =>
        computeAdvantages('grpo', input, { norm_adv_by_std_in_grpo }).advantages,
    )
    for (let j = 0; j < count; j++) {
      const row = i * rows + Math.floor(j / response_length)
      actual[i * count + j] = byStd[row] ? withStd[j] : without[j]
    }
  }
  // The goldens' run has float32 rewards.
  const shape = [batches, rows, response_length]
  const output = { actual, expected: golden, shape, tolerance: PRODUCTION }
  return check(c, `traj.${tag}.advantages`, 'driver', { advantages: output })
}
