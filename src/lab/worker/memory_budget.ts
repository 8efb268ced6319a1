// How much GPU memory a run may take without asking. A link is a stranger's: it must not fill a machine at one click.
import { gibibytes } from '../../kernels/device/errors.ts'
import { followExperiment, withField } from '../experiment/experiment.ts'
import type { Experiment } from '../experiment/schema.ts'
import { trainerConfig } from '../experiment/trainer_config.ts'

const GIB = 2 ** 30

/**
 * Bytes that are allocated without asking. WebGPU tells the largest buffer and not how much memory there is, and a GPU that is full
 * takes the browser or the desktop with it. 4 GiB is what small graphics cards have, and thirty times the largest preset.
 */
const MOST_BYTES = 4 * GIB

/**
 * Bytes that a run may take without asking: MOST_BYTES, or half of the machine's memory where that is less, because graphics of a
 * processor and software adapters share it. `memory_gib` as navigator.deviceMemory tells it; undefined where it is not known.
 */
export const memoryBudget = (memory_gib: number | undefined): number =>
  Math.min(MOST_BYTES, ((memory_gib ?? Number.POSITIVE_INFINITY) * GIB) / 2)

/** Bytes of all buffers of a trainer (rl/train/memory.ts planMemory, which belongs to the GPU side). */
export type PlanBytes = (config: ReturnType<typeof trainerConfig>) => number

/** Bytes that a run of this document takes at its largest, whatever its steering makes of it. Allocates nothing. */
export const plannedBytes = (document: Experiment, plan: PlanBytes): number =>
  Math.max(
    ...followExperiment(document).experiments.map((experiment) => plan(trainerConfig(experiment))),
  )

/** What a person may change for less memory: the field, its other value, and how that reads. */
function savings({ rollout, model, actor }: Experiment): [string, unknown, string][] {
  const half = (value: number) => Math.max(1, Math.floor(value / 2))
  return [
    ['model.enable_gradient_checkpointing', true, 'with gradient checkpointing'],
    ['rollout.train_batch_size', half(rollout.train_batch_size), 'with half of train_batch_size'],
    [
      'actor.ppo_mini_batch_size',
      half(actor.ppo_mini_batch_size),
      'with half of ppo_mini_batch_size',
    ],
    ['rollout.n', half(rollout.n), 'with half of rollout.n'],
    ['model.num_hidden_layers', half(model.num_hidden_layers), 'with half of the layers'],
    ['model.hidden_size', half(model.hidden_size), 'with half of hidden_size'],
  ]
}

const SHOWN = 3
/** A change that saves less than this share is not worth a word. */
const WORTH = 0.1

/** Changes of one field that save the most, largest first, in words. */
function savingWords(experiment: Experiment, plan: PlanBytes): string[] {
  const now = plannedBytes(experiment, plan)
  return savings(experiment)
    .flatMap(([path, value, words]) => {
      const changed = withField({ ...experiment, steering: [] }, path, value)
      return changed.ok ? [{ words, bytes: plannedBytes(changed.experiment, plan) }] : []
    })
    .filter(({ bytes }) => bytes < now * (1 - WORTH))
    .sort((a, b) => a.bytes - b.bytes)
    .slice(0, SHOWN)
    .map(({ words, bytes }) => `${words} ${gibibytes(bytes)}`)
}

/** A run would take more than may be allocated without asking. Nothing has been allocated. */
export class MemoryRefusal extends Error {
  override name = 'MemoryRefusal'
  /** That it would take. */
  readonly bytes: number
  constructor(bytes: number, allowed: number, savings: readonly string[]) {
    const less = savings.length === 0 ? '' : ` It would take less ${savings.join(', ')}.`
    super(
      `This run would take ${gibibytes(bytes)} of GPU memory, and more than ${gibibytes(allowed)} is allocated only when you say so.${less}`,
    )
    this.bytes = bytes
  }
}

/** Throws MemoryRefusal where a run of this document takes more than `allowed` bytes. */
export function requireMemory(document: Experiment, allowed: number, plan: PlanBytes): void {
  const bytes = plannedBytes(document, plan)
  if (bytes > allowed) throw new MemoryRefusal(bytes, allowed, savingWords(document, plan))
}
