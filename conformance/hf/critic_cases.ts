// Checks the critic: values, gradients of the value loss, and its trajectory.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import type { Check, Output } from '../base/report.ts'
import {
  createCritic,
  type Values,
  valueGradientGpu,
  valueGradientRef,
  valuesOfGpu,
  valuesOfRef,
} from './critic_models.ts'
import { criticTrajectoryChecks } from './critic_trajectory.ts'
import { gradientCheck } from './gradients.ts'
import { batchNames, check, type ModelCase, openHead, paramsOf, readBatch } from './model_case.ts'

/** All checks of a case's critic, if it has one. */
export async function* criticChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  const critic = await openHead(c, 'critic')
  if (!critic) return
  const params = paramsOf(critic)
  yield check(c, 'critic.score', 'driver', {
    weight: copied(c, 'critic.score.weight', params['score.weight']),
    bias: copied(c, 'critic.score.bias', params['score.bias']),
  })
  for (const t of batchNames(c.expected))
    if (c.expected.has(`critic.${t}.values`)) yield* batchChecks(c, critic, params, t, gpu)
  if (c.expected.has('traj.critic.loss')) yield* criticTrajectoryChecks(c, critic, params, gpu)
}

/** Weights that the goldens repeat. */
const copied = ({ expected }: ModelCase, name: string, actual: Float64Array): Output => ({
  actual,
  expected: expected.numbers(name),
  tolerance: 'exact',
})

/** Values of batch t, and gradients where there are some. */
async function* batchChecks(
  c: ModelCase,
  critic: HfModel,
  params: RefArrays,
  t: string,
  gpu: Gpu | undefined,
): AsyncGenerator<Check> {
  const { expected } = c
  const batch = readBatch(expected, `in.${t}`)
  const device = gpu && (await createCritic(c, critic, gpu, batch))
  const title = `critic.${t}`
  yield check(c, title, 'reference', valueOutputs(c, t, batch, valuesOfRef(c, params, batch)))
  if (device)
    yield check(c, title, 'gpu', valueOutputs(c, t, batch, await valuesOfGpu(device, batch)))
  const gradient = `critic.grad.${t}`
  if (expected.under(`${gradient}.`).length === 0) return
  const targets = {
    values: expected.numbers(`in.${t}.critic_old_values`),
    returns: expected.numbers(`in.${t}.critic_returns`),
    cliprange_value: expected.json.fields('critic').number('cliprange_value'),
  }
  const reference = valueGradientRef(c, params, batch, targets)
  yield gradientCheck(c, gradient, reference, 'reference', critic.layout)
  if (!device) return
  const kernels = await valueGradientGpu(device, batch, targets)
  yield gradientCheck(c, gradient, kernels, 'gpu', critic.layout)
}

function valueOutputs({ expected }: ModelCase, t: string, batch: RolloutBatch, found: Values) {
  return {
    values: expected.output(`critic.${t}.values`, found.all, batch.attention_mask),
    resp_values: expected.output(`critic.${t}.resp_values`, found.response, batch.response_mask),
  }
}
