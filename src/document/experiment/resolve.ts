// Gives the phases of an experiment as the trainer runs them.

import { layersOf } from '../../rl/config/layer_list.ts'
import {
  type DistillPhase,
  type Pairs,
  type Phase,
  type PreferencePhase,
  STOP_DEFAULTS,
} from '../../rl/config/phase.ts'
import { engineCorrection } from '../../rl/config/rollout_correction.ts'
import {
  type DistillDocument,
  innerTarget,
  type PairedDocument,
  type PreferenceDocument,
  takesVerdicts,
} from './fields/phases.ts'
import { preferenceLabel } from './fields/preference_fields.ts'
import { recordedVerdicts } from './fields/verdicts.ts'
import { settingsOf } from './schema/phase_settings.ts'
import type { Experiment } from './schema/schema.ts'
import { readoutWords } from './steering/words.ts'

/** A phase takes no more pairs, or single answers, than its file has. */
function pairsOfFile({ task }: Experiment, phase: PairedDocument) {
  const { pairs } = phase
  if (pairs.source !== 'file') return {}
  const [train, test] = takesVerdicts(task, phase)
    ? [
        Number(task.train_size) + Number(task.train_undesirable),
        Number(task.test_size) + Number(task.test_undesirable),
      ]
    : [Number(task.train_pairs), Number(task.test_pairs)]
  return { count: Math.min(pairs.count, train), held_out: Math.min(pairs.held_out, test) }
}

const pairsOf = (experiment: Experiment, phase: PairedDocument): Pairs => ({
  ...phase.pairs,
  ...pairsOfFile(experiment, phase),
  verdicts: recordedVerdicts(phase.pairs),
})

function preferencePhase(
  experiment: Experiment,
  phase: PreferenceDocument,
  target_layer: number,
): PreferencePhase {
  const label = preferenceLabel(phase.preference)
  return {
    ...phase,
    name:
      phase.name ||
      (phase.target_layer === 'final'
        ? label
        : `${label}, layer ${target_layer}${readoutWords(phase.target_readout)}`),
    target_layer,
    pairs: pairsOf(experiment, phase),
    stop: { ...STOP_DEFAULTS, ...phase.stop },
  }
}

function distillPhase(
  { epochs: _, ...phase }: DistillDocument,
  target_layer: number,
): DistillPhase {
  const layers = layersOf(phase.layers)
  const whose = layers.length > 0 ? `layers ${[...layers, target_layer]}` : `layer ${target_layer}`
  return {
    ...phase,
    name:
      phase.name ||
      `distil ${phase.target_layer === 'final' ? 'the whole model' : `${whose}${readoutWords(phase.target_readout)}`}`,
    target_layer,
    layers,
    stop: { ...STOP_DEFAULTS, ...phase.stop },
  }
}

/** The inner layer that a phase trains, else the first that any phase does; undefined where none
 * does. */
export function innerLayer({ model, phases }: Experiment, phase: number): number | undefined {
  const inner = phases.map((one) => {
    const layer = innerTarget(one)
    return layer !== undefined && layer < model.num_hidden_layers ? layer : undefined
  })
  return inner[phase] ?? inner.find((layer) => layer !== undefined)
}

const resolved = new WeakMap<Experiment, readonly Phase[]>()

/** The phases as the trainer runs them: names given, own settings laid over the experiment's,
 * layers as numbers. The same list for the same experiment. */
export function resolvePhases(experiment: Experiment): readonly Phase[] {
  const phases = resolved.get(experiment) ?? phasesOf(experiment)
  resolved.set(experiment, phases)
  return phases
}

function phasesOf(experiment: Experiment): Phase[] {
  const layers = experiment.model.num_hidden_layers
  return experiment.phases.map((phase) => {
    if (phase.kind === 'sft') {
      const { epochs: _, ...sft } = phase
      const name = phase.name || 'warm start'
      return { ...sft, name, stop: { ...STOP_DEFAULTS, ...phase.stop } }
    }
    if (phase.kind === 'reward_model')
      return { ...phase, name: phase.name || 'reward model', pairs: pairsOf(experiment, phase) }
    const target_layer = phase.target_layer === 'final' ? layers : phase.target_layer
    if (phase.kind === 'preference') return preferencePhase(experiment, phase, target_layer)
    if (phase.kind === 'distill') return distillPhase(phase, target_layer)
    const name =
      target_layer === layers
        ? 'whole model'
        : `layer ${target_layer}${readoutWords(phase.target_readout)}`
    const { epochs: _, ...own } = phase
    const { algorithm, ...settings } = settingsOf(experiment, phase)
    return {
      ...own,
      name: phase.name || name,
      target_layer,
      freeze: { ...phase.freeze, layers: layersOf(phase.freeze.layers) },
      ...settings,
      algorithm: {
        ...algorithm,
        rollout_correction: engineCorrection(algorithm.rollout_correction),
      },
    }
  })
}
