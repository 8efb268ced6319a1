// Measures what each part of the policy does while it trains: every part is switched off in rows of
// its own, so that one pass answers for several. Reads the weights only.

import type { Allocator } from '../../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../../kernels/device/gpu.ts'
import { OwnedTensors } from '../../../../kernels/device/owned.ts'
import {
  createInterventions,
  type InterventionTensors,
  writeInterventions,
} from '../../../../model/interventions/intervention_tensors.ts'
import { offChange, type Part, partsOf } from '../../../../model/interventions/parts.ts'
import type { ModelShape } from '../../../../model/layout/config.ts'
import { Rollout } from '../../../../model/rollout/rollout.ts'
import { groupRows } from '../../../../model/rollout/rollout_cache.ts'
import type { RolloutSize } from '../../../../model/rollout/rollout_inputs.ts'
import { createRolloutTensors } from '../../../../model/rollout/rollout_tensors.ts'
import type { Model } from '../../../../model/transformer/model.ts'
import type { TrainerConfig } from '../../../config/trainer_config.ts'
import { validationPrompts } from '../../../config/validation.ts'
import type { LensText } from '../../../look/lens_texts.ts'
import type { PartCosts } from '../../../look/observation.ts'
import { greedyAnswers } from '../../responses/validation.ts'
import { AnswerReader, type AnswerSizes, answerSizesOf, createReader } from './answer_reader.ts'
import { type Answered, costOf, untouchedOf } from './changed_answers.ts'
import { answersOf } from './problem_texts.ts'

/** Held-out problems that are answered without each part: as many as let one pass answer for all
 * parts, but from few to most. */
const PROBLEMS = { few: 16, most: 32 }
/** Rows of a pass at most, and of each row of the run's own batch. */
const ROWS = { most: 512, each: 2 }

interface Sized {
  readonly problems: number
  /** Parts whose loss one pass answers for. */
  readonly slots: number
  readonly rollout: RolloutSize
  /** The right answers; empty where they are no texts of the vocabulary. */
  readonly texts: readonly LensText[]
  /** Undefined without such texts. */
  readonly read: AnswerSizes | undefined
}

/** Passes not much larger than the run's own, so that their dispatches do not take much longer: the
 * problems in the rows of each slot, and row r is of slot r % slots. */
function sizedFor(config: TrainerConfig, shape: ModelShape, batchRows: number): Sized {
  const { task, phases, validation } = config
  const rows = Math.min(ROWS.most, ROWS.each * batchRows)
  const all = partsOf(shape).length + 1
  const prompts = Math.min(PROBLEMS.most, Math.max(PROBLEMS.few, Math.floor(rows / all)))
  const problems = validationPrompts({ ...validation, prompts }, task)
  const rl = phases.filter((phase) => phase.kind === 'rl').at(-1)
  const rollout = (slots: number): RolloutSize => ({
    rows: problems * slots,
    prompt_length: task.max_prompt_length,
    response_length: rl?.rollout.max_response_length ?? task.max_response_length,
  })
  let slots = Math.min(all, Math.max(1, Math.floor(rows / problems)))
  // Rows that are decoded at once hold whole problems.
  while (slots > 1 && groupRows(shape, rollout(slots)) % slots !== 0) slots--
  const texts = answersOf(config, problems)
  const read = texts.length > 0 ? { ...answerSizesOf(texts), rows: problems * slots } : undefined
  return { problems, slots, rollout: rollout(slots), texts, read }
}

/** Everything on a device, or in a plan. */
function room(alloc: Allocator, shape: ModelShape, { slots, rollout, read }: Sized) {
  const { rows, prompt_length, response_length } = rollout
  return {
    interventions: createInterventions(alloc, shape, {
      changes: slots,
      values: slots * shape.hidden_size,
      tokens: rows * Math.max(prompt_length, read?.width ?? 0),
      decoded: rows * (prompt_length + response_length),
    }),
    tensors: createRolloutTensors(alloc, shape, rollout),
    internals: read && createReader(alloc, shape, read),
  }
}

/** 1 in the rows of one slot. */
function rowsOfSlot(slot: number, { slots, rollout: { rows } }: Sized, width: number) {
  const chosen = new Uint32Array(rows * width)
  for (let row = slot; row < rows; row += slots) chosen.fill(1, row * width, (row + 1) * width)
  return chosen
}

export class LiveParts {
  /** Of one measurement, if no row ends early. */
  readonly dispatches: number
  readonly #gpu: Gpu
  readonly #config: TrainerConfig
  readonly #shape: ModelShape
  readonly #sized: Sized
  readonly #table: InterventionTensors
  readonly #rollout: Rollout
  readonly #reader: AnswerReader | undefined
  readonly #memory: OwnedTensors

  private constructor(
    gpu: Gpu,
    config: TrainerConfig,
    of: {
      readonly shape: ModelShape
      readonly sized: Sized
      readonly table: InterventionTensors
      readonly rollout: Rollout
      readonly reader: AnswerReader | undefined
      readonly memory: OwnedTensors
    },
  ) {
    this.#gpu = gpu
    this.#config = config
    this.#shape = of.shape
    this.#sized = of.sized
    this.#table = of.table
    this.#rollout = of.rollout
    this.#reader = of.reader
    this.#memory = of.memory
    const passes = Math.ceil((partsOf(of.shape).length + 1) / of.sized.slots)
    this.dispatches = passes * (of.rollout.dispatches + (of.reader?.dispatches ?? 0))
  }

  /** Of the model as it is whenever it is measured. `batchRows`: of the run's own passes. Throws
   * RangeError where problems are not answered in one turn, and GpuError where there is no memory
   * for it. */
  static async create(
    gpu: Gpu,
    given: TrainerConfig,
    model: Model,
    batchRows: number,
  ): Promise<LiveParts> {
    if (given.tools)
      throw new RangeError('Held-out problems are answered in one turn here; this run calls tools.')
    const { shape } = model
    const sized = sizedFor(given, shape, batchRows)
    const config = { ...given, validation: { ...given.validation, prompts: sized.problems } }
    const memory = new OwnedTensors(gpu, 'probes')
    try {
      const { interventions, tensors, internals } = room(memory, shape, sized)
      const changed = { ...model, interventions }
      const { eos_token_ids, pad_token_id } = config.task.tokenizer
      const special = { eos_token_ids, pad_token_id }
      const rollout = await Rollout.create(gpu, changed, sized.rollout, tensors, { special })
      const reader =
        sized.read && (await AnswerReader.create(gpu, changed, sized.read, pad_token_id, internals))
      return new LiveParts(gpu, config, {
        shape,
        sized,
        table: interventions,
        rollout,
        reader,
        memory,
      })
    } catch (error) {
      memory.free()
      throw error
    }
  }

  free(): void {
    this.#memory.free()
  }

  /** What switching each part off costs now. */
  async measure(): Promise<PartCosts> {
    const parts = partsOf(this.#shape)
    const all: readonly (Part | undefined)[] = [undefined, ...parts]
    const found: Answered[] = []
    for (let first = 0; first < all.length; first += this.#sized.slots)
      found.push(...(await this.#without(all.slice(first, first + this.#sized.slots))))
    const [untouched, ...others] = found
    return {
      problems: untouched.scores.length,
      untouched: untouchedOf(untouched),
      parts: parts.map((part, i) => ({ ...part, ...costOf(untouched, others[i]) })),
    }
  }

  /** The problems without each of these parts. */
  async #without(parts: readonly (Part | undefined)[]): Promise<Answered[]> {
    const { slots, rollout, texts } = this.#sized
    const { prompt_length, response_length } = rollout
    this.#switchOff(parts, prompt_length, prompt_length + response_length)
    const { scores } = await greedyAnswers(this.#gpu, this.#rollout, this.#config, slots)
    const rows = texts.flatMap((text) => Array.from({ length: slots }, () => text))
    if (this.#reader) this.#switchOff(parts, this.#reader.size.width, 0)
    const answers = await this.#reader?.read(rows)
    return parts.map((_, slot) => {
      const own = <T>(of: readonly T[]) => of.filter((_, row) => row % slots === slot)
      return { scores: own(scores), read: answers && own(answers) }
    })
  }

  /** Each in the rows of its slot, which are so wide in a pass and as they are decoded. */
  #switchOff(parts: readonly (Part | undefined)[], width: number, decoded: number): void {
    const changes = parts.flatMap((part, slot) => {
      if (!part) return []
      const chosen = rowsOfSlot(slot, this.#sized, width)
      const change = { ...offChange(part, this.#shape), chosen }
      return [decoded > 0 ? { ...change, decoded: rowsOfSlot(slot, this.#sized, decoded) } : change]
    })
    writeInterventions(this.#gpu, this.#table, this.#shape, changes)
  }
}
