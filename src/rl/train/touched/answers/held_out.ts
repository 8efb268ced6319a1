// Finds held-out answers of any weights of one model, whole or with a part changed: the same
// problems, greedily answered, as often as is asked.

import type { Allocator } from '../../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../../kernels/device/gpu.ts'
import { createInterventions } from '../../../../model/interventions/intervention_tensors.ts'
import type { ParamLayout } from '../../../../model/layout/params.ts'
import { Rollout } from '../../../../model/rollout/rollout.ts'
import { createRolloutTensors } from '../../../../model/rollout/rollout_tensors.ts'
import { createModel, type Model, uploadModel } from '../../../../model/transformer/model.ts'
import type { TrainerConfig } from '../../../config/trainer_config.ts'
import { validationPrompts } from '../../../config/validation.ts'
import { greedyAnswers } from '../../responses/validation.ts'

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
   * model's, without an adapter. `hasChanges`: its model has room for a change of every layer. */
  static async create(
    gpu: Gpu,
    given: TrainerConfig,
    layout: ParamLayout,
    prompts: number,
    hasChanges = false,
  ): Promise<HeldOut> {
    const config = { ...given, validation: { ...given.validation, prompts } }
    const { model, tensors, size } = HeldOut.room(gpu, config, layout, hasChanges)
    const { eos_token_ids, pad_token_id } = config.task.tokenizer
    const rollout = await Rollout.create(gpu, model, size, tensors, {
      special: { eos_token_ids, pad_token_id },
    })
    return new HeldOut(gpu, config, model, rollout)
  }

  /** Everything on a device, or in a plan. */
  static room(alloc: Allocator, config: TrainerConfig, layout: ParamLayout, hasChanges = false) {
    const { task, phases, validation } = config
    const rl = phases.filter((phase) => phase.kind === 'rl').at(-1)
    const size = {
      rows: Math.min(ROWS, validationPrompts(validation, task)),
      prompt_length: task.max_prompt_length,
      response_length: rl?.rollout.max_response_length ?? task.max_response_length,
    }
    const width = size.prompt_length + size.response_length
    const interventions = hasChanges
      ? createInterventions(alloc, layout.shape, {
          changes: layout.shape.num_hidden_layers + 1,
          values: (layout.shape.num_hidden_layers + 1) * layout.shape.hidden_size,
          tokens: size.rows * width,
          decoded: size.rows * width,
        })
      : undefined
    const model = createModel(alloc, layout)
    return {
      size,
      model: interventions ? { ...model, interventions } : model,
      tensors: createRolloutTensors(alloc, layout.shape, size),
    }
  }

  /** Whether each problem is answered right with these weights, in the layout given at first. */
  async right(weights: Float32Array): Promise<readonly boolean[]> {
    uploadModel(this.#gpu, this.#model, weights)
    return (await this.answers()).is_right
  }

  /** The model that answers, with the change of a part that it has. */
  get model(): Model {
    return this.#model
  }

  get config(): TrainerConfig {
    return this.#config
  }

  /** What the model makes of the problems now. */
  answers(): ReturnType<typeof greedyAnswers> {
    return greedyAnswers(this.#gpu, this.#rollout, this.#config)
  }
}
