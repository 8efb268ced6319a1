// Measures kernels between the steps of a run that began without waiting for it. What it finds
// takes effect where a phase begins.
import {
  MAX_KERNELS_LENGTH,
  ownKernels,
  writeKernels,
} from '../../../document/experiment/fields/pinned_kernels.ts'
import type { LabEvent } from '../../protocol/protocol.ts'
import type { MatmulChoice } from '../../protocol/results.ts'
import type { Orders } from '../base/run_orders.ts'
import type { Measured, OpenRun, RunDevice } from '../base/session_host.ts'

/** Milliseconds of a run that measurements may take in all. */
const BUDGET_MS = 3000
/** Above this many bytes of a run its state is not moved to other kernels: the next run has
 * them. */
const MOST_BYTES = 2 ** 30

/** The run that is measured beside. */
export interface MeasuredRun {
  readonly id: number
  readonly orders: Pick<Orders, 'isGoing' | 'takesTurns'>
  readonly open: OpenRun
  now(): number
  post(event: LabEvent): void
}

export class Measuring {
  readonly #of: MeasuredRun
  readonly #remember: Measured['remember']
  readonly #work: ReturnType<RunDevice['measure']>
  /** The variants that the run has now. */
  #present: MatmulChoice
  #found: MatmulChoice = {}
  #spentMs = 0
  #isOver = false

  constructor({ device, settled, matmul, remember }: Measured, of: MeasuredRun) {
    this.#of = of
    this.#remember = remember
    this.#present = matmul
    this.#work = device.measure(settled)
  }

  /** To be awaited between two steps, when what was due before the next one is done. Where a phase
   * begins with it, the run moves to what was found; else, while there is something to measure, one
   * variant of one product is. */
  async between(): Promise<void> {
    const { orders, open } = this.#of
    const { trainer } = open
    // The first step waits for nothing.
    if (trainer.step === 0 || trainer.isFinished) return
    if (trainer.isPhaseOver) await this.#apply()
    // Runs that take turns share the GPU: what is measured there says little, and each is to have
    // what the other has.
    else if (!this.#isOver && orders.isGoing && !orders.takesTurns) await this.#measure()
  }

  /** Measures no more; the measurement that is under way is the last. What was found is
   * remembered. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    // Frees what measures; what fails there fails nobody else.
    this.#work.return().catch(() => {})
  }

  async #measure(): Promise<void> {
    const { id: run, post, now } = this.#of
    const began = now()
    try {
      const { done: hasEnded, value } = await this.#work.next()
      this.#spentMs += now() - began
      const isOver = hasEnded === true || this.#spentMs >= BUDGET_MS || value.done === value.of
      if (isOver) this.end()
      if (hasEnded) return
      const { done, of, choice } = value
      const isNews = Object.keys(choice).length > Object.keys(this.#found).length
      this.#found = choice
      const cache = isOver || isNews ? this.#remember(choice, isOver) : undefined
      const told = { done, of, isOver, ...(cache !== undefined && { cache }) }
      post({ type: 'kernels_measured', run, ...told })
    } catch {
      // What cannot be measured is no reason not to train. A device that is lost ends the run by
      // itself.
      this.end()
    }
  }

  /** Does what a person does who changes kernels at this step, so that the document of the run
   * repeats it. */
  async #apply(): Promise<void> {
    const { id: run, open, post } = this.#of
    const { trainer } = open
    const other = ownKernels(this.#found, this.#present)
    const kernels = writeKernels(other)
    const bytes = Object.values(open.memory()).reduce((sum, own) => sum + own, 0)
    this.#present = { ...this.#present, ...other }
    const isShort = kernels.length <= MAX_KERNELS_LENGTH
    if (Object.keys(other).length === 0 || !isShort || bytes > MOST_BYTES) return
    trainer.steer({ kind: 'kernels', kernels })
    for (const done of await trainer.obey()) post({ type: 'steered', run, ...done })
  }
}
