// Limits the GPU memory that a run may take without asking. A link is a stranger's: it must not
// fill a machine at one click.

import { followExperiment, withField } from '../../../document/experiment/experiment.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { trainerConfig } from '../../../document/experiment/trainer_config.ts'
import { memorySize } from '../../../kernels/device/base/errors.ts'
import type { MemoryPlan } from '../../../kernels/device/base/tensor.ts'

const GIB = 2 ** 30

/** Bytes that are allocated without asking. WebGPU tells the largest buffer and not how much memory
 * there is, and a GPU that is full takes the browser or the desktop with it. 4 GiB is what small
 * graphics cards have, and thirty times the largest preset. */
const MOST_BYTES = 4 * GIB

/** Bytes that a run may take without asking: MOST_BYTES, or half of the machine's memory where that
 * is less, because graphics of a processor and software adapters share it. `memoryGib` as
 * navigator.deviceMemory tells it; undefined where it is not known. */
export const memoryBudget = (memoryGib: number | undefined): number =>
  Math.min(MOST_BYTES, ((memoryGib ?? Number.POSITIVE_INFINITY) * GIB) / 2)

/** Bytes of all buffers of a trainer (rl/train/parts/memory.ts planMemory, which belongs to the GPU
 * side). */
export type PlanBytes = (config: ReturnType<typeof trainerConfig>) => number

/** Bytes that a run of this document takes at its largest, whatever its steering makes of it.
 * Allocates nothing. */
export const plannedBytes = (document: Experiment, plan: PlanBytes): number =>
  Math.max(
    ...followExperiment(document).experiments.map((experiment) => plan(trainerConfig(experiment))),
  )

/** Bytes by what they are for, of a run of this document at its largest. Allocates nothing. */
export function plannedMemory(
  document: Experiment,
  plan: (config: ReturnType<typeof trainerConfig>) => Pick<MemoryPlan, 'bytes' | 'total'>,
): Readonly<Record<string, number>> {
  const plans = followExperiment(document).experiments.map((one) => plan(trainerConfig(one)))
  return plans.reduce((most, one) => (one.total() > most.total() ? one : most)).bytes
}

/** The field that changes what a run takes and none of its numbers. */
const CHECKPOINTING = 'model.enable_gradient_checkpointing'

/** What a person may change for less memory: the field, its other values, the first of which that
 * helps is told, and how it reads. */
interface Change {
  readonly path: string
  readonly values: readonly unknown[]
  readonly words: string
  /** Makes another model of it: told after the others. */
  readonly reshapes?: boolean
}

const half = (value: number) => [Math.max(1, Math.floor(value / 2))]

/** Responses of a micro-batch: divisors of a mini-batch from about as many as fit today on down. */
function microBatches({ rollout, actor }: Experiment): number[] {
  const mini = actor.ppo_mini_batch_size * rollout.n
  const present =
    actor.ppo_micro_batch_size_per_gpu ?? Math.ceil(4096 / rollout.max_response_length)
  const below = Math.min(mini, present)
  return Array.from({ length: below - 1 }, (_, i) => below - 1 - i).filter((x) => mini % x === 0)
}

function changes(experiment: Experiment): Change[] {
  const { rollout, model, actor } = experiment
  const list: Change[] = [
    {
      path: CHECKPOINTING,
      values: [true],
      words: 'gradient checkpointing',
    },
    {
      path: 'model.activations_dtype',
      values: ['bfloat16'],
      words: 'kept activations in bfloat16',
    },
    { path: 'model.dtype', values: ['bfloat16'], words: 'frozen matrices in bfloat16' },
    { path: 'teacher.dtype', values: ['bfloat16'], words: 'the teacher in bfloat16' },
    { path: 'rollout.dtype', values: ['float16'], words: 'a KV cache of halves' },
    {
      path: 'actor.ppo_micro_batch_size_per_gpu',
      values: microBatches(experiment),
      words: 'a smaller micro-batch',
    },
    {
      path: 'rollout.train_batch_size',
      values: half(rollout.train_batch_size),
      words: 'half of train_batch_size',
    },
    { path: 'rollout.n', values: half(rollout.n), words: 'half of rollout.n' },
    {
      path: 'actor.ppo_mini_batch_size',
      values: half(actor.ppo_mini_batch_size),
      words: 'half of ppo_mini_batch_size',
    },
    {
      path: 'model.num_hidden_layers',
      values: half(model.num_hidden_layers),
      words: 'half of the layers',
      reshapes: true,
    },
    {
      path: 'model.hidden_size',
      values: half(model.hidden_size),
      words: 'half of hidden_size',
      reshapes: true,
    },
  ]
  return model.lora.r > 0
    ? list
    : [{ path: 'model.lora.r', values: [LORA_RANK], words: `LoRA with r = ${LORA_RANK}` }, ...list]
}

/** PEFT's default. */
const LORA_RANK = 8
const SHOWN = 4
/** A change that saves less than this share is not worth a word. */
const WORTH = 0.05
/** Values of one change that are tried. */
const TRIED = 6

/** A change of one field that saves memory: what it is set to, how it reads, and the bytes that it
 * saves. */
export interface Saving {
  readonly path: string
  readonly value: unknown
  readonly words: string
  readonly bytes: number
  readonly reshapes: boolean
}

/** The document with one field changed, and what it would take; undefined where that is no valid
 * document. */
function planned(document: Experiment, path: string, value: unknown, plan: PlanBytes) {
  const changed = withField({ ...document, steering: [] }, path, value)
  return changed.ok
    ? { document: changed.experiment, bytes: plannedBytes(changed.experiment, plan) }
    : undefined
}

/** Changes of one field that save the most, each planned by itself: largest first, those that make
 * another model last. */
export function savingsOf(document: Experiment, plan: PlanBytes): Saving[] {
  const now = plannedBytes(document, plan)
  const found = changes(document).flatMap(({ path, values, words, reshapes = false }): Saving[] => {
    for (const value of values.slice(0, TRIED)) {
      const bytes = planned(document, path, value, plan)?.bytes ?? now
      if (bytes < now * (1 - WORTH))
        return [{ path, value, words: worded(words, path, value), bytes: now - bytes, reshapes }]
    }
    return []
  })
  const order = (x: Saving) => (x.reshapes ? now : 0) - x.bytes
  return found.sort((a, b) => order(a) - order(b)).slice(0, SHOWN)
}

const worded = (words: string, path: string, value: unknown): string =>
  path === 'actor.ppo_micro_batch_size_per_gpu' ? `a micro-batch of ${value}` : words

/** How many of the savings, in their order, make a document fit, and what it then takes; undefined
 * where all do not. */
function together(
  document: Experiment,
  allowed: number,
  savings: readonly Saving[],
  plan: PlanBytes,
) {
  let changed = document
  for (const [i, { path, value }] of savings.entries()) {
    const next = planned(changed, path, value, plan)
    if (!next) continue
    changed = next.document
    if (next.bytes <= allowed) return { count: i + 1, bytes: next.bytes }
  }
  return undefined
}

/** Which settings save how much, in a sentence or two; '' where none does. */
export function savingWords(document: Experiment, allowed: number, plan: PlanBytes): string {
  const savings = savingsOf(document, plan)
  if (savings.length === 0) return ''
  const list = savings.map(({ words, bytes }) => `${words} saves ${memorySize(bytes)}`).join(', ')
  const sentence = `${list.charAt(0).toUpperCase()}${list.slice(1)}.`
  const fit = together(document, allowed, savings, plan)
  if (!fit) return `${sentence} All together do not make it fit.`
  if (fit.count === 1) return `${sentence} The first is enough.`
  return `${sentence} With the first ${fit.count} it takes ${memorySize(fit.bytes)}.`
}

/** A run would take more than may be allocated without asking. Nothing has been allocated. */
export class MemoryRefusal extends Error {
  override name = 'MemoryRefusal'
  /** That it would take. */
  readonly bytes: number
  /** That it takes with gradient checkpointing, where that alone makes it fit. */
  readonly checkpointed_bytes: number | undefined
  constructor(bytes: number, allowed: number, savings: string, checkpointedBytes?: number) {
    super(
      `This run would take ${memorySize(bytes)} of GPU memory, and more than ${memorySize(allowed)} is allowed only when you say so.${savings && ` ${savings}`}`,
    )
    this.bytes = bytes
    this.checkpointed_bytes = checkpointedBytes
  }
}

/** Throws MemoryRefusal where a run of this document takes more than `allowed` bytes. */
export function requireMemory(document: Experiment, allowed: number, plan: PlanBytes): void {
  const bytes = plannedBytes(document, plan)
  if (bytes <= allowed) return
  const changed = withField(document, CHECKPOINTING, true)
  const least = changed.ok ? plannedBytes(changed.experiment, plan) : bytes
  const savings = savingWords(document, allowed, plan)
  throw new MemoryRefusal(bytes, allowed, savings, least <= allowed ? least : undefined)
}
