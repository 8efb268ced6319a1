// Tells when a run that is to rest has kept the state of its last step.
import type { LabEvent } from '../../../host/protocol/protocol.ts'

export class Rest {
  /** Resolves when its state is kept, or when it cannot be. */
  readonly kept: Promise<void>
  #end: () => void = () => {}
  #step: number | undefined
  #keptStep = 0
  #isPaused = false

  constructor() {
    this.kept = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** Before its first step here there is nothing to keep. */
  get hasStepped(): boolean {
    return this.#step !== undefined
  }

  hear(event: LabEvent): void {
    if (event.type === 'step') this.#step = event.step
    else if (event.type === 'checkpoint') this.#keptStep = event.step
    else if (event.type === 'status' && event.status === 'paused') this.#isPaused = true
    else if (event.type === 'checkpoint_problem') this.#end()
    if (this.#isPaused && this.#keptStep >= (this.#step ?? 0)) this.#end()
  }
}
