// Holds an optimizer in float64.
import { type AdamwState, adamwRef } from '../../src/kernels/optimizer/optimizer.ref.ts'
import {
  chunkSegments,
  type FlatLayout,
  trainedPrefix,
} from '../../src/model/layout/flat_params.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { type Optim, weightDecays } from '../../src/rl/config/optim.ts'
import type { trainedWhere } from '../../src/rl/learners/policy_backward.ref.ts'

/** An optimizer over named float64 weights in the project's flat layout. */
export class RefTrainable {
  /** Views of the weights by name. */
  readonly params: RefArrays
  readonly #layout: FlatLayout
  readonly #state: AdamwState

  constructor(layout: FlatLayout, weights: Float32Array) {
    this.#layout = layout
    this.#state = {
      weights: Float64Array.from(weights),
      m: new Float64Array(layout.size),
      v: new Float64Array(layout.size),
      steps: layout.segment_ends.map(() => 0),
    }
    this.params = Object.fromEntries(
      layout.params.map(({ name, offset, size }) => [
        name,
        this.#state.weights.subarray(offset, offset + size),
      ]),
    )
  }

  /** One step of the policy of `layer`, after clipping; returns the norm before clipping. */
  step(
    grads: Readonly<Record<string, ArrayLike<number>>>,
    layer: number,
    optim: Optim,
    max_norm: number,
  ): number {
    const { count, segments } = trainedPrefix(this.#layout, layer)
    return this.stepOver(grads, { count, active_segments: segments }, optim, max_norm)
  }

  /** One step of what `where` names. */
  stepOver(
    grads: Readonly<Record<string, ArrayLike<number>>>,
    where: ReturnType<typeof trainedWhere>,
    optim: Optim,
    max_norm: number,
  ): number {
    const flat = new Float64Array(this.#layout.size)
    for (const { name, offset } of this.#layout.params)
      if (grads[name]) flat.set(grads[name], offset)
    const [beta1, beta2] = optim.betas
    const settings = { lr: optim.lr, beta1, beta2, eps: 1e-8, ...weightDecays(optim), max_norm }
    const chunk_segment = chunkSegments(this.#layout)
    return adamwRef(this.#state, flat, settings, { ...where, chunk_segment }).grad_norm
  }

  /** Optimizer steps of the segment that a parameter lies in. */
  stepsOf(name: string): number | undefined {
    const param = this.#layout.params.find((one) => one.name === name)
    const segment = this.#layout.segment_ends.findIndex((end) => param && param.offset < end)
    return this.#state.steps[segment]
  }

  /** The weights as they are now. */
  copy(): RefArrays {
    return Object.fromEntries(Object.entries(this.params).map(([name, x]) => [name, x.slice()]))
  }
}
