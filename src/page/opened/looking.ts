// Looks into a run that is over, through the worker: at its newest state, or at one that was kept.
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { Looked } from '../../host/protocol/look.ts'
import { atMoment } from '../../host/protocol/observation.ts'
import { wantedRequest } from '../client/observing.ts'
import { connect, isConnected, onLabEvent, post } from '../connection/connection.ts'
import { findContents } from '../contents/contents.ts'
import { contentsOf } from '../contents/here.ts'

/** Milliseconds after which no answer is expected any more: a software adapter compiles for
 * long. */
const PATIENCE_MS = 180_000

/** Which state of a run is looked into: the one kept after a step, the newest without one, or its
 * beginning, made anew. */
export type Where = { readonly step?: number } | 'beginning'

/** All that a moment of a run shows, of one of its states, and unless `isStateOnly` the tokens of
 * the step that follows. `experiment` is the run's, which says what files it needs. Not while a run
 * is on. Rejects with a sentence for people. */
export async function lookInto(
  record: string,
  experiment: Experiment,
  where: Where = {},
  isStateOnly = false,
): Promise<Looked> {
  if (!(await findContents(experiment))) throw new RangeError('A file of this run is missing.')
  const contents = contentsOf(experiment) ?? []
  // Each state would fit lenses of its own.
  const wanted = { ...wantedRequest(), moments: true, readings: [] }
  const request = { ...atMoment(wanted), token_layers: true }
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      stop()
    }
    const stop = onLabEvent((event) => {
      if (event.type === 'looked' && event.record === record) resolve(event)
      else if (event.type === 'look_failed' && event.record === record)
        reject(new RangeError(event.message))
      else return
      end()
    })
    const timer = setTimeout(() => {
      reject(new RangeError('The worker did not answer.'))
      end()
    }, PATIENCE_MS)
    if (!isConnected()) connect()
    const state = where === 'beginning' ? { begins: experiment } : where
    const only = isStateOnly ? ({ is_state_only: true } as const) : {}
    post({ type: 'look', record, request, contents, ...state, ...only })
  })
}
