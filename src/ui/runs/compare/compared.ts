// The runs that are compared: their columns, and what the charts draw of them behind the shown run.

import { boundsOf } from '../../../document/study/bounds.ts'
import type { Series } from '../../../host/columns/series.ts'
import { duelStore } from '../../../page/runs/duel/duel.ts'
import {
  libraryStore,
  type RunEntry,
  readColumns,
  runOf,
  shownRuns,
} from '../../../page/runs/library/library.ts'
import { type LabState, labStore } from '../../../page/state/store.ts'
import { type BandKind, type MeanBand, meanBand } from '../../../record/compare/statistics.ts'
import { distinctColors } from '../../../record/run/looks.ts'
import { runName } from '../../../record/run/names.ts'
import { isLive, runColor } from '../../../record/run/record.ts'
import { openedStore, redraw } from '../../open/opened_run.ts'
import { type Overlay, overlayStore, SENDER_ID } from '../../shown/overlays.ts'
import { plannedOf } from '../../shown/run_words.ts'
import { groupRuns } from '../table/groups.ts'
import { MAX_AVERAGED, MAX_COMPARED, selectionStore, tick } from '../table/selection.ts'

type AllColumns = ReadonlyMap<string, Series>

/** Columns of past runs that are ticked; those of the living one are the store's own. */
const loaded = new Map<string, AllColumns>()

/** The run that the charts show in full. */
const shownId = (): string | undefined =>
  openedStore.getState().opened?.id ?? libraryStore.getState().living

/** The state of a run that continues on this page. */
function stateOf(id: string): LabState | undefined {
  if (id === libraryStore.getState().living) return labStore.getState()
  const { second, second_id } = duelStore.getState()
  return id === second_id ? second : undefined
}

const columnsOf = (id: string): AllColumns | undefined => stateOf(id)?.series ?? loaded.get(id)

/** Those of `entries` that are ticked, at most MAX_COMPARED, each in a colour of its own. */
export function tickedRuns(ticked: readonly string[], entries: readonly RunEntry[]): RunEntry[] {
  const runs = ticked
    .flatMap((id) => entries.find((entry) => entry.id === id) ?? [])
    .slice(0, MAX_COMPARED)
  const colors = distinctColors(runs.map(({ labels }) => labels.color))
  return runs.map((entry, i) =>
    entry.labels.color === colors[i]
      ? entry
      : { ...entry, labels: { ...entry.labels, color: colors[i] } },
  )
}

/** Ticked runs that are there: as many as there can be lines, or as bands can be means of. */
function comparedRuns(): RunEntry[] {
  const { ticked, band } = selectionStore.getState()
  const entries = shownRuns(libraryStore.getState())
  if (!band) return tickedRuns(ticked, entries)
  const runs = ticked.flatMap((id) => entries.find((entry) => entry.id === id) ?? [])
  return runs.slice(0, MAX_AVERAGED)
}

function lineOf(entry: RunEntry): Overlay {
  const { id, labels } = entry
  return {
    id,
    label: runName(entry).name,
    ...runColor(labels.color),
    end: () => endOf([entry]),
    series: (metric) => columnsOf(id)?.get(metric),
  }
}

/** The last step of runs; one that continues will have as many as it plans to have. */
function endOf(group: readonly RunEntry[]): ReturnType<Overlay['end']> {
  const headers = group.flatMap(({ id }) => runOf(id)?.header ?? [])
  const going_on = headers.filter(({ status }) => isLive(status)).map(plannedOf)
  return {
    last: Math.max(0, ...headers.map(({ id, step }) => stateOf(id)?.step ?? step)),
    planned: Math.max(0, ...going_on),
  }
}

/** Runs of a group as one line. Computed again when a column has grown. */
function bandOf(group: readonly RunEntry[], label: string, kind: BandKind): Overlay {
  const [first] = group
  const known = new Map<string, { runs: Series[]; length: number; band: MeanBand | undefined }>()
  const at = (metric: string): MeanBand | undefined => {
    const runs = group.flatMap(({ id }) => columnsOf(id)?.get(metric) ?? [])
    const length = runs.reduce((sum, run) => sum + run.length, 0)
    const before = known.get(metric)
    const is_same = before?.length === length && runs.every((run, i) => run === before.runs[i])
    if (is_same) return before.band
    const { low, high } = boundsOf(metric)
    const band = runs.length === group.length ? meanBand(runs, kind, [low, high]) : undefined
    known.set(metric, { runs, length, band })
    return band
  }
  return {
    id: `mean of ${group.map(({ id }) => id).join()}`,
    label: `mean of ${group.length}: ${label}`,
    ...runColor(first.labels.color),
    end: () => endOf(group),
    series: (metric) => at(metric)?.mean,
    band: (metric) => at(metric),
  }
}

/** The task that the charts are about. */
function shownTask(): string {
  const { opened } = openedStore.getState()
  const past = opened && runOf(opened.id)?.header.experiment
  const { run_experiment, experiment } = labStore.getState()
  return (past ?? run_experiment ?? experiment).task.id
}

/** What the charts are to draw now. A run that is shown in full is no overlay of itself, and one of
 * another task stays in the comparison alone: its scores mean something else. */
function overlays(): Overlay[] {
  const { band, view } = selectionStore.getState()
  const task = shownTask()
  const runs = comparedRuns().filter(({ header }) => header.experiment.task.id === task)
  const shown = shownId()
  const lines = (group: readonly RunEntry[]) => group.filter(({ id }) => id !== shown).map(lineOf)
  if (!band) return lines(runs)
  const groups = groupRuns(runs, view).slice(0, MAX_COMPARED)
  const colors = distinctColors(groups.map(({ entries: [{ labels }] }) => labels.color))
  return groups.flatMap(({ label, entries: [first, ...others] }, i) => {
    const entries = [{ ...first, labels: { ...first.labels, color: colors[i] } }, ...others]
    return others.length > 0 ? [bandOf(entries, label, band)] : lines(entries)
  })
}

let is_redrawing = false

/** The second run grows also while the living one is over. */
function redrawSoon(): void {
  if (is_redrawing) return
  is_redrawing = true
  setTimeout(() => {
    is_redrawing = false
    redraw()
  }, 100)
}

let key = ''

/** Has the charts draw what is ticked; reads the columns of runs that are new. */
async function update(): Promise<void> {
  const runs = comparedRuns()
  const { living } = libraryStore.getState()
  const { second_id } = duelStore.getState()
  const { band, view } = selectionStore.getState()
  const now = JSON.stringify([
    runs.map(({ id, labels }) => [id, labels.color, labels.name, loaded.has(id)]),
    band && [band, groupRuns(runs, view).map(({ label }) => label)],
    living,
    second_id,
    shownId(),
    shownTask(),
  ])
  if (now === key) return
  key = now
  const ids = runs.map(({ id }) => id)
  for (const id of loaded.keys()) if (!ids.includes(id)) loaded.delete(id)
  // The result that a link brought has its own place there.
  overlayStore.setState((before) => ({
    overlays: [...overlays(), ...before.overlays.filter(({ id }) => id === SENDER_ID)],
  }))
  redraw()
  const missing = ids.filter((id) => id !== living && id !== second_id && !loaded.has(id))
  if (missing.length === 0) return
  const read = await Promise.all(missing.map((id) => readColumns(id).catch(() => undefined)))
  for (const [i, columns] of read.entries()) loaded.set(missing[i], columns ?? new Map())
  await update()
}

/** Keeps the overlays in step with what is ticked. To be called once per page. */
export function followTicks(): void {
  const go = () => void update()
  selectionStore.subscribe(go)
  openedStore.subscribe(go)
  labStore.subscribe(({ run_experiment, experiment }, before) => {
    if (run_experiment !== before.run_experiment || experiment.task !== before.experiment.task) go()
  })
  duelStore.subscribe(({ second, second_id }, before) => {
    if (second_id !== before.second_id) {
      // Both are what somebody wants to see side by side.
      for (const id of [libraryStore.getState().living, second_id])
        if (id !== undefined && second_id !== undefined) tick(id, true)
      go()
    }
    if (second?.step !== before.second?.step) redrawSoon()
  })
  libraryStore.subscribe((library, before) => {
    if (library.living !== before.living && before.living !== undefined)
      loaded.delete(before.living)
    const { ticked } = selectionStore.getState()
    const kept = ticked.filter((id) => runOf(id) && !library.deleted.includes(id))
    if (kept.length < ticked.length) selectionStore.setState({ ticked: kept })
    if (ticked.length > 0) go()
  })
}
