// Computes what another model that teaches takes of a run's memory, before anything is allocated.
import { MemoryPlan } from '../../../kernels/device/base/tensor.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { type ActorSize, createActorTensors } from '../../learners/actor_tensors.ts'
import { actorSize, ownTaughtLayers, teacherRollouts } from './memory.ts'
import { createSamplerTensors } from './sampler.ts'

/** Bytes of its weights, of its passes over a micro-batch, of what it says of a batch, and of its
 * rollouts where it writes answers; 0 without one. Part of what planMemory adds up. */
export function planTeacher(config: TrainerConfig): number {
  const { teacher } = config
  if (!teacher) return 0
  const layout = paramLayout(modelShape(config.model))
  const size = actorSize(config)
  const actorBytes = (change: Partial<ActorSize>) => {
    const plan = new MemoryPlan()
    createActorTensors(plan, layout, { ...size, ...change })
    return plan.total()
  }
  const rollouts = new MemoryPlan()
  for (const { writer, size } of teacherRollouts(config))
    if (writer === 'model') createSamplerTensors(rollouts, modelShape(teacher), size)
  const without = actorBytes({ teacher: undefined, students: ownTaughtLayers(config) })
  return actorBytes({}) - without + rollouts.total()
}
