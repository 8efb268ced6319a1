// Checks the reward model: scores, and gradients of the Bradley-Terry loss.

import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { bradleyTerryRef } from '../../src/kernels/preference_loss/preference_loss.ref.ts'
import { PREFERENCE_LOSS_SUMS } from '../../src/kernels/preference_loss/preference_loss.ts'
import type { HfModel } from '../../src/model/hf/hf_model.ts'
import { unpackWeights } from '../../src/model/layout/params.ts'
import { readParams, wholeTensor } from '../../src/model/params/param_copies.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import { valuesBackwardRef, valuesRef } from '../../src/model/transformer/value.ref.ts'
import { lastRows, RewardModel } from '../../src/rl/reward/reward_model.ts'
import { CaseError } from '../base/fields.ts'
import type { Check, Place } from '../base/report.ts'
import { type Gradients, gradientCheck } from './gradients.ts'
import { check, type ModelCase, openHead, paramsOf, scalar } from './model_case.ts'

/** All checks of a case's reward model, if it has one. */
export async function* rewardChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  const model = await openHead(c, 'reward')
  if (!model) return
  const params = paramsOf(model)
  const losses = c.expected.json.fields('losses')
  const names = c.expected.names(/^reward\.[^.]+\.scores$/).map((name) => name.split('.')[1])
  for (const t of names) {
    const sequences = readSequences(c, t)
    const emit = (found: Scored, on: Place) => scoredChecks(c, model, t, found, on)
    const reference = scoresRef(c, model, params, sequences)
    yield* emit(reference, 'reference')
    const only = `scalar_only.reward.${t}`
    if (losses.has(only)) {
      const loss = scalar(reference.loss, losses.fields(only).number('loss'), 'reference')
      yield check(c, only, 'reference', { loss })
    }
    if (gpu) yield* emit(await scoresGpu(c, model, gpu, sequences), 'gpu')
  }
}

/** Scores of the sequences t, and gradients where there are some. */
function* scoredChecks(c: ModelCase, { layout }: HfModel, t: string, found: Scored, on: Place) {
  const scores = c.expected.output(`reward.${t}.scores`, found.scores)
  yield check(c, `reward.${t}`, on, { scores })
  const gradient = `reward.grad.${t}`
  if (c.expected.under(`${gradient}.`).length > 0)
    yield gradientCheck(c, gradient, found, on, layout)
}

function readSequences({ expected }: ModelCase, t: string) {
  const [rows, width] = expected.tensor(`in.reward_${t}.input_ids`).shape
  const ids = (name: string) => expected.ids(`in.reward_${t}.${name}`)
  return {
    rows,
    width,
    input_ids: ids('input_ids'),
    attention_mask: ids('attention_mask'),
    position_ids: ids('position_ids'),
  }
}

type Sequences = ReturnType<typeof readSequences>
type Scored = Gradients & { readonly scores: ArrayLike<number> }

/** The id of padding decides where a sequence is scored. */
function padOf({ pad_token_id }: HfModel): number {
  if (pad_token_id === undefined)
    throw new CaseError('reward/config.json: there is no pad_token_id')
  return pad_token_id
}

function scoresRef(c: ModelCase, model: HfModel, params: RefArrays, sequences: Sequences): Scored {
  const cache = forwardRef(c.model.config, params, sequences)
  const values = valuesRef(params, cache)
  const rows = lastRows(sequences.input_ids, sequences.width, padOf(model))
  const scores = Float64Array.from(rows, (m) => values[m])
  const { loss, accuracy, d_scores } = bradleyTerryRef(scores)
  const d_values = new Float64Array(values.length)
  rows.forEach((m, b) => {
    d_values[m] = d_scores[b]
  })
  const grads = valuesBackwardRef(c.model.config, params, cache, d_values)
  return { scores, loss, metrics: { 'reward_model/accuracy': accuracy }, grads }
}

async function scoresGpu(
  { matmul }: ModelCase,
  model: HfModel,
  gpu: Gpu,
  sequences: Sequences,
): Promise<Scored> {
  const { rows, width } = sequences
  const pad = padOf(model)
  const size = { rows, width, matmul }
  const reward = await RewardModel.create(gpu, model.layout, size, pad, model.weights)
  reward.score(sequences)
  const { score, sums, gradients } = reward.tensors
  const [scores] = await gpu.read(score.scores)
  reward.computeGradients(sequences)
  const [totals, flat] = await readParams(gpu, wholeTensor(sums), gradients.buffers)
  const total = (name: (typeof PREFERENCE_LOSS_SUMS)[number]) =>
    totals[PREFERENCE_LOSS_SUMS.indexOf(name)]
  return {
    scores,
    loss: total('reward_model/loss'),
    metrics: { 'reward_model/accuracy': total('reward_model/accuracy') },
    grads: unpackWeights(model.layout, flat),
  }
}
