// Held-out accuracy of any weights of one model: the same problems, greedily answered, as often as
// is asked.
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { Allocator } from '../../../kernels/device/tensor.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { Rollout } from '../../../model/rollout/rollout.ts'
import { createRolloutTensors } from '../../../model/rollout/rollout_tensors.ts'
import { createModel, type Model, uploadModel } from '../../../model/transformer/model.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { validationPrompts } from '../../config/validation.ts'
import { greedyRight } from './validation.ts'

/** Rows that are answered at once at most. */
const ROWS = 64

export class HeldOut {
  readonly #gpu: Gpu
  readonly #config: TrainerConfig
  readonly #model: Model
  readonly #rollout: Rollout

  private constructor(gpu: Gpu, config: TrainerConfig, model: Model, rollout: Rollout) {
    this.#gpu = gpu
    this.#config = config
    this.#model = model
    this.#rollout = rollout
  }

  /** The first `prompts` held-out problems of a run's task, or all that there are. `layout` is the
   * model's, without an adapter. */
  static async create(
    gpu: Gpu,
    given: TrainerConfig,
    layout: ParamLayout,
    prompts: number,
  ): Promise<HeldOut> {
    const config = { ...given, validation: { ...given.validation, prompts } }
    const { model, tensors, size } = HeldOut.room(gpu, config, layout)
    const { eos_token_ids, pad_token_id } = config.task.tokenizer
    const rollout = await Rollout.create(gpu, model, size, tensors, {
      special: { eos_token_ids, pad_token_id },
    })
    return new HeldOut(gpu, config, model, rollout)
  }

  /** Everything on a device, or in a plan. */
  static room(alloc: Allocator, config: TrainerConfig, layout: ParamLayout) {
    const { task, phases, validation } = config
    const rl = phases.filter((phase) => phase.kind === 'rl').at(-1)
    const size = {
      rows: Math.min(ROWS, validationPrompts(validation, task)),
      prompt_length: task.max_prompt_length,
      response_length: rl?.rollout.max_response_length ?? task.max_response_length,
    }
    return {
      size,
      model: createModel(alloc, layout),
      tensors: createRolloutTensors(alloc, layout.shape, size),
    }
  }

  /** Whether each problem is answered right with these weights, in the layout given at first. */
  async right(weights: Float32Array): Promise<readonly boolean[]> {
    uploadModel(this.#gpu, this.#model, weights)
    return greedyRight(this.#gpu, this.#rollout, this.#config)
  }
}
