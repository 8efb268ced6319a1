// Collects the history of a run from its events, and cuts it back to the step of a state.

import { writeVerdicts } from '../../document/experiment/fields/verdicts.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { appendMetrics, Series } from '../columns/series.ts'
import type { RunHistory } from '../protocol/checkpoint_facts.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import type { SteeredState } from './file/checkpoint.ts'

/** What the history is made of; the worker's events of these types are some. */
export type HistoryEvent =
  | {
      readonly type: 'step'
      readonly step: number
      readonly metrics: Readonly<Record<string, number>>
    }
  | ({ readonly type: 'phase' } & RunHistory['phase_switches'][number])
  | { readonly type: 'steered'; readonly entry: SteeringEntry; readonly refused?: string }
  | { readonly type: 'pairs'; readonly phase: number; readonly verdicts: string }

const EMPTY: RunHistory = { series: new Map(), phase_switches: [], steered: [], verdicts: {} }

/** Grows with the events of a run. */
export class HistoryLog {
  readonly #series: Map<string, Series>
  #phaseSwitches: RunHistory['phase_switches'][number][]
  #steered: RunHistory['steered'][number][]
  #verdicts: Record<number, string>

  /** Continues a copy of a history. */
  constructor(from: RunHistory = EMPTY) {
    this.#series = seriesUntil(from.series, Number.POSITIVE_INFINITY)
    this.#phaseSwitches = [...from.phase_switches]
    this.#steered = [...from.steered]
    this.#verdicts = { ...from.verdicts }
  }

  /** Takes an event in; all but four types are passed over. */
  add(event: HistoryEvent | LabEvent): void {
    if (event.type === 'step') appendMetrics(this.#series, event.step, event.metrics)
    else if (event.type === 'phase') {
      const { step, phase, reason } = event
      this.#phaseSwitches.push({ step, phase, reason })
    } else if (event.type === 'steered')
      this.#steered.push({ entry: event.entry, refused: event.refused })
    else if (event.type === 'pairs') this.#verdicts[event.phase] = event.verdicts
  }

  /** The columns keep growing in it; `historyUntil` copies them. */
  get history(): RunHistory {
    return {
      series: this.#series,
      phase_switches: [...this.#phaseSwitches],
      steered: [...this.#steered],
      verdicts: { ...this.#verdicts },
    }
  }
}

function seriesUntil(series: RunHistory['series'], last: number): Map<string, Series> {
  const cut = new Map<string, Series>()
  for (const [metric, column] of series) {
    const end = column.after(last)
    const { steps, values, thinned } = column
    if (end === 0) continue
    const lost = thinned && { ...thinned, until: Math.min(thinned.until, last) }
    cut.set(metric, Series.of(steps.subarray(0, end), values.subarray(0, end), lost))
  }
  return cut
}

/** The part of a history that belongs to a state: what the run reports when it continues from there
 * comes after it, without gaps and without repeating anything. The history must reach as far as the
 * state's last step. */
export function historyUntil(history: RunHistory, run: SteeredState): RunHistory {
  const { step, phase, began } = run.trainer
  return {
    series: seriesUntil(history.series, step),
    // A phase that has begun and was not reported yet: the run reports it when it continues.
    phase_switches: history.phase_switches.filter(
      (begun) => begun.phase < phase || (begun.phase === phase && began === null),
    ),
    steered: steeredUntil(history, run),
    verdicts: verdictsUntil(history, run),
  }
}

/** What is done in the state, and what was refused up to there. */
function steeredUntil({ steered }: RunHistory, { trainer, done }: SteeredState) {
  let left = done
  return steered.filter(({ entry, refused }) =>
    refused === undefined ? left-- > 0 : entry.step < trainer.step,
  )
}

/** Of the phase whose pairs are drawn, what the state knows; of earlier ones, all. */
function verdictsUntil({ verdicts }: RunHistory, { trainer }: SteeredState) {
  const { pairs_of, preferences } = trainer
  const own = preferences?.log
  const earlier = Object.entries(verdicts).filter(([phase]) => Number(phase) < (pairs_of ?? 0))
  return {
    ...Object.fromEntries(earlier),
    ...(pairs_of !== null && own && { [pairs_of]: writeVerdicts(own) }),
  }
}
