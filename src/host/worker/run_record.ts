// Keeps what is known of a run, whatever device it is on, from the events that pass through here on
// their way to the page or the command line. Checkpoints, the page's curves after a loss and a run
// folder's facts all come from this record.

import { writeVerdicts } from '../../document/experiment/fields/verdicts.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { SteeredState } from '../checkpoints/file/checkpoint.ts'
import { HistoryLog } from '../checkpoints/history.ts'
import type { Opened } from '../checkpoints/origin.ts'
import { plainHistory } from '../checkpoints/origin.ts'
import type { RunHistory } from '../protocol/checkpoint_facts.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import type { RunTrainer } from './base/session_host.ts'

export class RunRecord {
  /** With all that was done to the run so far; undefined before it is known. */
  document: Experiment | undefined
  /** The same without what was done by hand; undefined where the run began with a checkpoint. */
  beginning: Experiment | undefined
  #log: HistoryLog

  constructor(opened: Opened | undefined) {
    this.#log = new HistoryLog(opened?.checkpoint.history)
  }

  /** What the steps so far have told. Its columns keep growing. */
  get history(): RunHistory {
    return this.#log.history
  }

  /** Takes an event in. `trainer` says which verdicts are behind a step: those of a document come
   * while it trains. */
  add(event: LabEvent, trainer?: RunTrainer): void {
    this.#log.add(event)
    const { preferences, phase } = trainer ?? {}
    if (event.type === 'step' && preferences && phase === event.phase)
      this.#log.add({ type: 'pairs', phase, verdicts: writeVerdicts(preferences.log) })
    if (event.type === 'steered' && event.refused === undefined && this.document)
      this.document = { ...this.document, steering: event.steering }
  }

  /** Goes back to what was known at a state, or at the beginning; returns that as it crosses to the
   * page. */
  restore(snapshot: { readonly state: SteeredState; readonly history: RunHistory } | undefined) {
    this.#log = new HistoryLog(snapshot?.history)
    return plainHistory(this.#log.history)
  }
}
