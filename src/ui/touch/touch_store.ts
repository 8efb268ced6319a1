// Keeps what was found by touching kept states: under way, last said, and kept while the page is
// open.
import { createStore } from 'zustand/vanilla'
import type { Touched, TouchWork } from '../../host/protocol/touch.ts'
import { touchStates } from '../../page/opened/touching.ts'
import type { RunEntry } from '../../page/runs/library/library_store.ts'
import { shownExperiment } from '../shown/run.ts'
import { shownStore } from '../shown/shown.ts'

export type TouchKind = Touched['what']

interface UnderWay {
  readonly record: string
  readonly what: TouchKind
  readonly done: number
  /** 0: not known yet. */
  readonly of: number
}

interface TouchStore {
  readonly busy: UnderWay | undefined
  /** By record and kind, what was found last. */
  readonly found: ReadonlyMap<string, Touched>
  /** By record and kind, why nothing was found. */
  readonly problems: ReadonlyMap<string, string>
}

export const touchStore = createStore<TouchStore>(() => ({
  busy: undefined,
  found: new Map(),
  problems: new Map(),
}))

/** What is found is kept by this: by the kind of work, or as a trial beside it. */
type FoundAs = TouchKind | 'steering trial'

export const keyOf = (record: string, as: FoundAs): string => `${as} ${record}`

interface TouchOptions {
  /** The run of the last state, where that is another one. */
  readonly other?: RunEntry | undefined
  readonly as?: FoundAs
}

/** Held-out problems that are answered: their number decides how wide the intervals are. */
export const PROBLEMS = 64

/** Touches the states after these steps; the last of them of another run where one is given. One at
 * a time. */
export async function touch(
  record: string,
  steps: readonly number[],
  work: TouchWork,
  { other, as = work.what }: TouchOptions = {},
): Promise<void> {
  if (touchStore.getState().busy) return
  const { what } = work
  const key = keyOf(record, as)
  const say = (done: number, of: number) =>
    touchStore.setState({ busy: { record, what, done, of } })
  say(0, 0)
  const state = shownStore.getState()
  const experiment = state.runDocument ?? shownExperiment(state)
  const without = (problems: TouchStore['problems']) =>
    new Map([...problems].filter(([own]) => own !== key))
  try {
    const its = other && { record: other.id, experiment: other.header.document }
    const touched = await touchStates({ record, experiment, steps, work, other: its }, say)
    touchStore.setState(({ found, problems }) => ({
      found: new Map([...found, [key, touched]]),
      problems: without(problems),
    }))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    touchStore.setState(({ problems }) => ({ problems: new Map([...problems, [key, why]]) }))
  } finally {
    touchStore.setState({ busy: undefined })
  }
}
