// Does the CPU's work between rollout and update: reads per-token arrays back and makes the
// experience, and times both.
import type { Tensor } from '../../../kernels/device/base/tensor.ts'
import { type DriverColumn, type Experience, makeExperience } from '../../experience/experience.ts'
import type { ActorTensors } from '../../learners/actor_tensors.ts'
import type { Training } from './training.ts'

/** What a batch teaches. */
export interface Learned {
  readonly experience: Experience
  /** Of the critic, where there is one; [B, R]. */
  readonly values?: Float32Array
  /** Seconds that the driver took for the experience. */
  readonly adv: number
}

/** Per-token arrays of the batch, [B, R]. */
export async function readColumns(
  { gpu, parts }: Training,
  columns: readonly DriverColumn[],
  rows: number,
): Promise<Partial<Record<DriverColumn, Float32Array>>> {
  const { tensors, size } = parts.actor
  const names = columns.filter((name) => name !== 'rollout_log_probs')
  if (names.length === 0) return {}
  const values = parts.critic?.tensors.values ?? tensors.batch.old_log_probs
  const read = await gpu.read(
    ...names.map((name) => {
      const tensor =
        name === 'values'
          ? values
          : name === 'teacher_log_probs'
            ? teacherLogProbs(tensors)
            : tensors.batch[name]
      return gpu.view(tensor, tensor.label, 0, [rows, size.response_length])
    }),
  )
  return Object.fromEntries(names.map((name, i) => [name, read[i] as Float32Array]))
}

function teacherLogProbs({ teacher }: ActorTensors): Tensor {
  if (!teacher?.other) throw new Error('actor: no room was made for a teacher')
  return teacher.other.log_probs
}

/** Makes the experience of a batch. */
export function timedExperience(...args: Parameters<typeof makeExperience>): Learned {
  const start = performance.now()
  const experience = makeExperience(...args)
  return { experience, adv: (performance.now() - start) / 1000 }
}

/** A result and the seconds until it was there. */
export async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now()
  const result = await work()
  return [result, (performance.now() - start) / 1000]
}
