// Holds what a person has asked of a run and the run has not done yet. It outlives the device that
// the run is on.

import type { SteeringAction } from '../../../document/experiment/steering/actions.ts'
import type { ObservationRequest } from '../../protocol/observation.ts'
import type { RunCommand } from '../../protocol/protocol.ts'

/** A command that asks something of the run that is on. */
type Order = Extract<
  RunCommand,
  {
    type:
      | 'pause'
      | 'resume'
      | 'step'
      | 'turn'
      | 'profile'
      | 'trace'
      | 'checkpoint'
      | 'observe'
      | 'next_phase'
      | 'steer'
  }
>

export class Orders {
  /** Steps to take before pausing. */
  budget: number
  /** Between two turns a run waits without being paused. */
  takesTurns = false
  isStopped = false
  /** The run is to end after the step in flight, and its state is to be kept. */
  isEnding = false
  /** What is to be done before the next step. */
  asked: SteeringAction[] = []
  wantsProfile = false
  wantsTrace = false
  wantsCheckpoint = false
  request: ObservationRequest
  #wake: () => void = () => {}

  constructor(isPaused: boolean, request: ObservationRequest) {
    this.budget = isPaused ? 0 : Number.POSITIVE_INFINITY
    this.request = request
  }

  /** There is a step to take. */
  get isGoing(): boolean {
    return this.budget > 0 || this.wantsProfile
  }

  /** There is something to do in a pause. */
  get hasWork(): boolean {
    return this.isGoing || this.asked.length > 0
  }

  /** Takes in what a command asks of the run. */
  hear(command: Order): void {
    switch (command.type) {
      case 'pause':
        return this.take(0)
      case 'resume':
        return this.take(Number.POSITIVE_INFINITY)
      case 'step':
        return this.take(1)
      case 'turn':
        return this.take(1, true)
      case 'profile':
        return this.change({ wantsProfile: true })
      case 'trace':
        return this.change({ wantsTrace: true })
      case 'checkpoint':
        return this.change({ wantsCheckpoint: true })
      case 'observe':
        return this.change({ request: command.request })
      case 'next_phase':
        return this.steer({ kind: 'next_phase' })
      case 'steer':
        return this.steer(command.action)
      default:
        command satisfies never
    }
  }

  take(steps: number, takesTurns = false): void {
    this.change({ budget: steps, takesTurns })
  }

  change(
    orders: Partial<Omit<Orders, 'change' | 'take' | 'awaken' | 'hear' | 'rest' | 'going'>>,
  ): void {
    Object.assign(this, orders)
    this.#wake()
  }

  steer(action: SteeringAction): void {
    this.asked.push(action)
    this.#wake()
  }

  /** No step is taken until somebody asks for one again. */
  rest(): void {
    this.budget = 0
    this.wantsProfile = false
  }

  /** Sleeps until there is a step to take, or the run is stopped. */
  async going(): Promise<void> {
    do await this.awaken(() => this.isGoing)
    while (!this.isStopped && !this.isGoing)
  }

  /** Wakes what waits for an order. */
  wake(): void {
    this.#wake()
  }

  /** Sleeps until a command comes, unless there is something to do already. */
  awaken(hasWork: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      // A command may have come between the decision to sleep and now.
      if (hasWork() || this.isStopped) resolve()
    })
  }
}
