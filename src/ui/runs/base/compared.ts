// Gathers the runs that are compared: their columns, and what the charts draw of them behind the
// shown run.

import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { Series } from '../../../host/columns/series.ts'
import { duelStore } from '../../../page/runs/duel/duel.ts'
import { lastRun } from '../../../page/runs/library/last_run.ts'
import { libraryStore, type RunEntry, runOf } from '../../../page/runs/library/library_store.ts'
import { type LabState, labStore } from '../../../page/state/store.ts'
import {
  type BandKind,
  type MeanBand,
  meanBand,
  type RunColumns,
} from '../../../record/compare/statistics.ts'
import { distinctColors } from '../../../record/run/looks.ts'
import { runName } from '../../../record/run/names.ts'
import { isLive, runColor } from '../../../record/run/record.ts'
import { openedStore, redraw } from '../../open/opened_run.ts'
import type { Owner } from '../../plot/files/SaveAs.tsx'
import type { FigureLine } from '../../plot/still/figure_lines.ts'
import { isFew, SAMPLED_SMOOTHING, smoothed } from '../../scales/smooth.ts'
import { distinctNames } from '../../shown/names/distinct_names.ts'
import { type Overlay, overlayStore, SENDER_ID } from '../../shown/overlays.ts'
import { plannedOf } from '../../shown/run_words.ts'
import { uiStore } from '../../shown/store.ts'
import { allRuns, columnsOfPast, listedRun, studyRunsStore } from './all_runs.ts'
import { whyNoMean } from './choices.ts'
import { boundsOfRuns, MAIN } from './columns.ts'
import { groupRuns, isBySettings } from './groups.ts'
import { rememberedTicks, rememberTicks } from './remembered_view.ts'
import { MAX_AVERAGED, MAX_COMPARED, type Selection, selectionStore, tick } from './selection.ts'

type AllColumns = ReadonlyMap<string, Series>

/** Columns of past runs that are ticked; those of the living one are the store's own. */
const loaded = new Map<string, AllColumns>()

/** The run that the charts show in full. */
const shownId = (): string | undefined =>
  openedStore.getState().opened?.id ?? libraryStore.getState().living

/** The state of a run that continues on this page. */
function stateOf(id: string): LabState | undefined {
  if (id === libraryStore.getState().living) return labStore.getState()
  const { second, secondId } = duelStore.getState()
  return id === secondId ? second : undefined
}

/** The columns of a ticked run; undefined while they are read. */
export const columnsOf = (id: string): AllColumns | undefined =>
  stateOf(id)?.series ?? loaded.get(id)

/** Runs that are one line: alone, or the seeds of one setting. */
export interface Compared {
  readonly label: string
  /** Each with the colour of the line. */
  readonly entries: readonly RunEntry[]
  /** Runs of a seed that is among them: left out, so that no seed counts twice. */
  readonly again: readonly RunEntry[]
}

/** Whose numbers a figure of these lines shows, for its files. */
export const ownerOf = (groups: readonly Compared[]): Owner => ({
  words: groups.map(({ label }) => label).join('; '),
  stem: 'comparison',
})

/** A run as the figures show it: in the colour of its line, by a name that no other has. */
const withLook = (entry: RunEntry, color: number, name: string): RunEntry => ({
  ...entry,
  labels: { ...entry.labels, color, name },
})

/**
 * What is ticked, as lines of which no two have one colour: the same in the table and on every
 * chart.
 */
export function comparedGroups(
  entries: readonly RunEntry[],
  { ticked, band, view }: Pick<Selection, 'ticked' | 'band' | 'view'>,
): readonly Compared[] {
  const runs = ticked
    .flatMap((id) => entries.find((entry) => entry.id === id) ?? [])
    .slice(0, band ? MAX_AVERAGED : MAX_COMPARED)
  const names = distinctNames(entries)
  const nameOf = (entry: RunEntry) => names.get(entry.id)?.name ?? runName(entry).name
  const alone = (own: readonly RunEntry[] = runs) =>
    own.map((entry) => ({ label: nameOf(entry), again: [], counted: [entry] }))
  const together = () => {
    const own = groupRuns(runs, view, names)
    // Where every line is one run, their seeds may be what differs.
    if (isBySettings(view) && own.every(({ entries }) => entries.length === 1)) return alone()
    // A mean of runs of which one is not over would be of no one's end: it has a line of its own.
    return own.flatMap(({ label, entries, counted, unfinished }) => {
      if (whyNoMean(MAIN, counted) !== '') return alone(entries)
      const again = entries.filter((one) => !counted.includes(one) && !unfinished.includes(one))
      return [...(counted.length > 0 ? [{ label, again, counted }] : []), ...alone(unfinished)]
    })
  }
  const groups = (band ? together() : alone()).slice(0, MAX_COMPARED)
  const colors = distinctColors(groups.map(({ counted }) => counted[0].labels.color))
  return groups.map(({ label, again, counted }, i) => {
    const coloured = (own: readonly RunEntry[]) =>
      own.map((entry) => withLook(entry, colors[i], nameOf(entry)))
    return { label, entries: coloured(counted), again: coloured(again) }
  })
}

/** How many runs have a place in these lines: a seed that was trained again has that of the
 * first. */
export const placedRuns = (groups: readonly Compared[]): number =>
  groups.reduce((sum, { entries, again }) => sum + entries.length + again.length, 0)

/** What the tab draws: what is ticked, and without a tick the run that began last. */
export function drawnGroups(
  entries: readonly RunEntry[],
  selection: Pick<Selection, 'ticked' | 'band' | 'view'>,
): readonly Compared[] {
  const ticked = selection.ticked.length > 0 ? selection.ticked : newestOf(entries)
  return comparedGroups(entries, { ...selection, ticked })
}

const newestOf = (entries: readonly RunEntry[]): readonly string[] => {
  const newest = lastRun(entries.filter(({ labels, header }) => !labels.hidden && !header.study))
  return newest ? [newest.id] : []
}

const isOpen = () => uiStore.getState().tab === 'runs'

/** Nobody reads the columns of a run that was not ticked before they can be seen. */
const nowCompared = (): readonly Compared[] =>
  (isOpen() ? drawnGroups : comparedGroups)(allRuns(), selectionStore.getState())

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
  const headers = group.flatMap(({ id }) => listedRun(id)?.header ?? [])
  const goingOn = headers.filter(({ status }) => isLive(status)).map(plannedOf)
  return {
    last: Math.max(0, ...headers.map(({ id, step }) => stateOf(id)?.step ?? step)),
    planned: Math.max(0, ...goingOn),
  }
}

/**
 * The band of runs at a metric, which each may call by a name of its own. Computed again when a
 * column has grown.
 */
function bandsOf(group: readonly RunEntry[], kind: BandKind) {
  const known = new Map<string, { runs: Series[]; length: number; band: MeanBand | undefined }>()
  return (metric: string, nameOf: (entry: RunEntry) => string): MeanBand | undefined => {
    const runs = group.flatMap((entry) => columnsOf(entry.id)?.get(nameOf(entry)) ?? [])
    const length = runs.reduce((sum, run) => sum + run.length, 0)
    const before = known.get(metric)
    const isSame = before?.length === length && runs.every((run, i) => run === before.runs[i])
    if (isSame) return before.band
    const { low, high } = boundsOfRuns(group, nameOf)
    const band = runs.length === group.length ? meanBand(runs, kind, [low, high]) : undefined
    known.set(metric, { runs, length, band })
    return band
  }
}

/** Runs of a group as one line. */
function bandOf({ label, entries }: Compared, kind: BandKind): Overlay {
  const bands = bandsOf(entries, kind)
  const at = (metric: string) => bands(metric, () => metric)
  return {
    id: `mean of ${entries.map(({ id }) => id).join()}`,
    label: `mean of ${entries.length}: ${label}`,
    ...runColor(entries[0].labels.color),
    end: () => endOf(entries),
    series: (metric) => at(metric)?.mean,
    band: (metric) => at(metric),
  }
}

/**
 * What a panel draws of a group: its own columns, or their mean and band; undefined where not all
 * of its runs have them.
 */
export function columnsOfGroup(
  { entries }: Compared,
  kind: BandKind | undefined,
  nameOf: (entry: RunEntry) => string,
): { readonly mean: RunColumns; readonly band?: MeanBand } | undefined {
  const metric = nameOf(entries[0])
  if (entries.length < 2 || !kind) {
    const mean = columnsOf(entries[0].id)?.get(metric)
    return mean && { mean }
  }
  const band = bandsOf(entries, kind)(metric, nameOf)
  return band && { mean: band.mean, band }
}

/**
 * The same of the smoothed lines of its runs, as Learning draws them: mean and band are of the
 * same numbers, so that the one lies within the other. Of few points, as a study keeps them, there
 * is none.
 */
export function smoothOfGroup(
  { entries }: Compared,
  kind: BandKind | undefined,
  nameOf: (entry: RunEntry) => string,
): FigureLine['smooth'] {
  if (entries.some(({ header }) => header.study)) return undefined
  const measured = entries.flatMap((entry) => columnsOf(entry.id)?.get(nameOf(entry)) ?? [])
  if (measured.some(isFew)) return undefined
  const runs = measured.map((columns) => smoothed(columns, SAMPLED_SMOOTHING))
  if (entries.length < 2 || !kind) return runs[0] && { middle: runs[0].values }
  const { low, high } = boundsOfRuns(entries, nameOf)
  const band = meanBand(runs, kind, [low, high])
  return band && { middle: band.mean.values, low: band.low.values, high: band.high.values }
}

/** What the charts are about. */
function shownExperiment(): Experiment {
  const { opened } = openedStore.getState()
  const past = opened && runOf(opened.id)?.header.experiment
  const { runExperiment, experiment } = labStore.getState()
  return past ?? runExperiment ?? experiment
}

/** Where a run begins: its curves compare with those of runs that begin there too. */
const beginningOf = ({ task, model }: Experiment): string => JSON.stringify([task, model])

/** What the charts are to draw now. A run that is shown in full is no overlay of itself, and one of
 * another task stays in the comparison alone: its scores mean something else. */
function overlays(): Overlay[] {
  const { band, isBehind } = selectionStore.getState()
  if (!isBehind) return []
  const about = shownExperiment()
  const shown = shownId()
  const isComparable = (other: Experiment) =>
    isBehind === 'same_start'
      ? beginningOf(other) === beginningOf(about)
      : other.task.id === about.task.id
  return nowCompared().flatMap((group) => {
    const entries = group.entries.filter(({ header }) => isComparable(header.experiment))
    if (band && entries.length > 1) return [bandOf({ ...group, entries }, band)]
    return entries.filter(({ id }) => id !== shown).map(lineOf)
  })
}

let isRedrawing = false

/** The second run grows also while the living one is over. */
function redrawSoon(): void {
  if (isRedrawing) return
  isRedrawing = true
  setTimeout(() => {
    isRedrawing = false
    redraw()
  }, 100)
}

let key = ''

/** Has the charts draw what is ticked; reads the columns of runs that are new. */
async function update(): Promise<void> {
  const groups = nowCompared()
  const runs = groups.flatMap(({ entries }) => entries)
  const { living } = libraryStore.getState()
  const { secondId } = duelStore.getState()
  const { band, isBehind } = selectionStore.getState()
  const now = JSON.stringify([
    runs.map(({ id, labels }) => [id, labels.color, labels.name, loaded.has(id)]),
    band && [band, groups.map(({ label }) => label)],
    isBehind,
    living,
    secondId,
    shownId(),
    beginningOf(shownExperiment()),
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
  const missing = ids.filter((id) => id !== living && id !== secondId && !loaded.has(id))
  if (missing.length === 0) return
  const read = await Promise.all(missing.map((id) => columnsOfPast(id).catch(() => undefined)))
  for (const [i, columns] of read.entries()) loaded.set(missing[i], columns ?? new Map())
  await update()
}

/** Keeps the overlays in step with what is ticked, until the returned function is called. To be
 * called once per page. */
export function followTicks(): () => void {
  const go = () => void update()
  /** Deleted with their tick, which they have again once they are back. */
  let lost: readonly string[] = []
  /** Ticked on an earlier visit, and not listed yet. */
  let awaited = rememberedTicks()
  const goWithout = () => {
    const { ticked } = selectionStore.getState()
    const { deleted } = libraryStore.getState()
    const back = [...awaited, ...lost].filter((id) => listedRun(id) && !ticked.includes(id))
    awaited = awaited.filter((id) => !listedRun(id))
    const kept = [...ticked.filter((id) => listedRun(id)), ...back]
    lost = [...new Set([...lost, ...ticked])].filter((id) => deleted.includes(id))
    if (kept.length < ticked.length || back.length > 0) selectionStore.setState({ ticked: kept })
    if (ticked.length > 0 || isOpen()) go()
  }
  const stops = [
    selectionStore.subscribe(({ ticked }, before) => {
      if (ticked !== before.ticked) rememberTicks([...ticked, ...awaited])
      go()
    }),
    openedStore.subscribe(go),
    uiStore.subscribe(({ tab }, before) => {
      if (tab !== before.tab) go()
    }),
    labStore.subscribe(({ runExperiment, experiment }, before) => {
      const { task, model } = before.experiment
      const isAnother = experiment.task !== task || experiment.model !== model
      if (runExperiment !== before.runExperiment || isAnother) go()
    }),
    duelStore.subscribe(({ second, secondId }, before) => {
      if (secondId !== before.secondId) {
        // Both are what somebody wants to see side by side.
        if (secondId !== undefined) selectionStore.setState({ isBehind: true })
        for (const id of [libraryStore.getState().living, secondId])
          if (id !== undefined && secondId !== undefined) tick(id, true)
        go()
      }
      if (second?.step !== before.second?.step) redrawSoon()
    }),
    studyRunsStore.subscribe(goWithout),
    libraryStore.subscribe(({ living }, before) => {
      if (living !== before.living && before.living !== undefined) loaded.delete(before.living)
      goWithout()
    }),
  ]
  goWithout()
  return () => {
    for (const stop of stops) stop()
  }
}
