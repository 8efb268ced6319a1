// Describes the two sides of the page's client: the worker that it talks to, and the page that
// it is on.
import type { ContentStore } from '../../document/content/content.ts'
import type { LabCommand, LabEvent } from '../../host/protocol/protocol.ts'
import type { DataPort } from './data_messages.ts'

/** What the client needs of a Worker. */
export interface LabPort {
  postMessage(command: LabCommand, transfer?: Transferable[]): void
  terminate(): void
  addEventListener(type: 'message', listener: (event: { data: LabEvent }) => void): void
  addEventListener(
    type: 'error' | 'messageerror',
    listener: (event: { message?: string }) => void,
  ): void
  /** When what it says happened, where that is not now: a recording has a clock of its own.
   * Milliseconds. */
  now?(): number
}

/** What the client needs of the page: where it is, and when to draw. */
export interface LabPage {
  /** Address without query and hash. */
  readonly address: string
  readonly query: string
  /** What follows '#'; '' when nothing does. */
  readonly hash: string
  /** Puts this query into the address bar, without a new entry in the history. */
  replaceQuery(query: string): void
  /** Calls `flush` once, soon: in the next frame, or a little later where no frames are drawn. */
  nextFrame(flush: () => void): void
  /** What `remember` was given last, also by an earlier page of this origin. */
  recall(): string | undefined
  /** Keeps which kernels are the fastest on this adapter. */
  remember(kernelCache: string): void
  /** Where files lie that experiments name; without it they are in memory alone. */
  contents?(): Promise<ContentStore>
  /** The hashes of the models that are kept here; undefined where nobody can say. */
  models?(): Promise<ReadonlySet<string> | undefined>
  /** Starts a worker that reads data files; without it they are read on the page's own thread. */
  dataPort?(): DataPort
  /** Milliseconds. */
  now(): number
}
