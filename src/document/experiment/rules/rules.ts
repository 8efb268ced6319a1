// Lists the rules between the fields of an experiment, each with its reason.

import { loraOf } from '../fields/lora_fields.ts'
import { type Issue, valueAt } from '../fields/paths.ts'
import { isPairedDocument } from '../fields/phases.ts'
import { readKernels } from '../fields/pinned_kernels.ts'
import { taskOf } from '../fields/task_fields.ts'
import { vectorsOf } from '../fields/vectors_fields.ts'
import { settingsOf } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'
import { answerRules } from './answer_rules.ts'
import { batchRules, staleRules } from './batch_rules.ts'
import { dataRules } from './data_rules.ts'
import { distillRules, teacherRules } from './distill_rules.ts'
import { headRules } from './head_rules.ts'
import { innerRules } from './inner_rules.ts'
import { correctionRules, entropyRules, lossRules, rejectionRules } from './loss_rules.ts'
import {
  criticRules,
  filterRules,
  hasRewardModel,
  stopRules,
  trainedRules,
  warmupRules,
} from './phase_rules.ts'
import { preferenceRules } from './preference_rules.ts'
import { componentRules, estimatorRules, pairRules, rewardRules } from './reward_rules.ts'
import type { Rule, RuledPhase } from './rule.ts'
import { toolRules } from './tool_rules.ts'

/** Every rule that an experiment breaks. */
export function brokenRules(experiment: Experiment): Issue[] {
  const issues: Issue[] = []
  const rule: Rule = (holds, path, involved, message) => {
    if (!holds) issues.push({ path, message, involved })
  }
  modelRules(experiment, rule)
  teacherRules(experiment, rule)
  dataRules(experiment, taskOf(experiment.task), rule)
  answerRules(experiment, rule)
  const kernels = readKernels(experiment.kernels)
  rule(kernels.ok, 'kernels', [], kernels.ok ? '' : kernels.problem)
  rule(
    !experiment.probe.internals || experiment.validation.test_freq !== null,
    'probe.internals',
    ['validation.test_freq'],
    'expected off, or an evaluation at some interval, because entropy changes are measured on steps that evaluate and there are none',
  )
  for (const [i, phase] of experiment.phases.entries()) {
    stopRules(experiment, i, rule)
    if (isPairedDocument(phase)) pairRules(experiment, phase, `phases.${i}`, rule)
    if (phase.kind === 'preference') preferenceRules(experiment, phase, `phases.${i}`, rule)
    if (phase.kind === 'distill') distillRules(experiment, phase, `phases.${i}`, rule)
    if ('reward_model' in phase)
      rule(
        !phase.reward_model.enable || hasRewardModel(experiment.phases, i),
        `phases.${i}.reward_model.enable`,
        [],
        'expected false, because no earlier phase of kind reward_model trains a reward model to score the responses; got true',
      )
    if (phase.kind !== 'rl') continue
    const at = `phases.${i}`
    const path = (name: string) => (valueAt(phase, name) === undefined ? name : `${at}.${name}`)
    const settings = settingsOf(experiment, phase)
    const ruled: RuledPhase = { experiment, phase, at, settings, path, rule }
    batchRules(ruled)
    staleRules(ruled)
    estimatorRules(ruled)
    componentRules(ruled)
    warmupRules(ruled)
    criticRules(ruled)
    lossRules(ruled)
    entropyRules(ruled)
    innerRules(ruled)
    rewardRules(ruled)
    correctionRules(ruled)
    rejectionRules(ruled)
    trainedRules(ruled)
    filterRules(ruled)
    toolRules(ruled)
  }
  // One broken shared setting is one issue, however many phases use it.
  return issues.filter((a, i) => issues.findIndex((b) => b.path === a.path) === i)
}

function modelRules({ model }: Experiment, rule: Rule): void {
  const { num_hidden_layers: L, lora } = model
  const missing = loraOf(lora)?.layers_to_transform?.find((layer) => layer >= L)
  rule(
    missing === undefined,
    'model.lora.layers_to_transform',
    ['model.num_hidden_layers'],
    `expected layers of the model, counted from 0 to ${L - 1}; got ${missing}`,
  )
  const vectors = vectorsOf(model.steering_vectors)
  const beyond = vectors?.layers?.find((layer) => layer > L)
  rule(
    beyond === undefined,
    'model.steering_vectors.layers',
    ['model.num_hidden_layers'],
    `expected layers of the model, from 0 (the embedding) to ${L}; got ${beyond}`,
  )
  rule(
    !vectors || lora.r === 0,
    'model.steering_vectors.trainable',
    ['model.lora.r'],
    'expected false beside a LoRA adapter, because one of both is trained on the frozen model; set model.lora.r to 0',
  )
  rule(
    vectors !== undefined || model.steering_vectors.source === null,
    'model.steering_vectors.trainable',
    ['model.steering_vectors.source'],
    'expected true beside a file of vectors, because a run adds them only where it trains them; set model.steering_vectors.source to null to train without vectors',
  )
  headRules(model, 'model', rule)
}
