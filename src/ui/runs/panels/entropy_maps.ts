// Makes the maps layer × step of the compared runs: their rows, their one scale, and their numbers.
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { layerName } from '../../glossary/layer_names.ts'
import { formatNumber } from '../../kit/format.ts'
import { spread } from '../../plot/files/chart_file.ts'
import type { NumberTable } from '../../plot/files/number_table.ts'
import type { Columns } from '../../scales/columns.ts'
import { extentOf } from '../../scales/extent.ts'
import { layerEntropy } from '../../shown/metrics.ts'
import { calledName } from '../../shown/names/called.ts'
import { newestIn } from '../../shown/readout.ts'
import { type Compared, columnsOf } from '../base/compared.ts'
import { MAX_COMPARED } from '../base/selection.ts'

export type EntropyRows = readonly (Columns | undefined)[]

export interface RunMap {
  readonly entry: RunEntry
  /** From the embedding to the final policy. */
  readonly rows: EntropyRows
}

/** The rows of one run; undefined where no layer was measured. */
export function entropyRows(
  { header }: RunEntry,
  columns: ReadonlyMap<string, Columns> | undefined,
): EntropyRows | undefined {
  const layers = header.experiment.model.num_hidden_layers + 1
  const rows = Array.from({ length: layers }, (_, l) => columns?.get(layerEntropy(l)))
  return rows.some((row) => row !== undefined && row.length > 0) ? rows : undefined
}

const measured = (rows: EntropyRows): Columns[] => rows.flatMap((row) => (row?.length ? [row] : []))

/** The highest value and the last step of maps that are drawn alike. */
export function scaleOfMaps(all: readonly EntropyRows[]) {
  const known = all.flatMap(measured)
  return {
    scaleMax: Math.max(...known.map((row) => extentOf(row)[1]), 1e-6),
    lastStep: Math.max(...known.map(({ steps, length }) => steps[length - 1]), 1),
  }
}

/** Undefined where no run measured its layers. */
export function mapsOf(groups: readonly Compared[]) {
  const entries = groups.flatMap((group) => group.entries).slice(0, MAX_COMPARED)
  const maps = entries.flatMap((entry): RunMap[] => {
    const rows = entropyRows(entry, columnsOf(entry.id))
    return rows ? [{ entry, rows }] : []
  })
  if (maps.length === 0) return undefined
  const known = maps.flatMap(({ rows }) => measured(rows))
  const steps = new Set(known.flatMap((row) => Array.from(row.steps).slice(0, row.length)))
  return {
    maps,
    ...scaleOfMaps(maps.map(({ rows }) => rows)),
    stops: [...steps].sort((a, b) => a - b),
  }
}

/** The newest value of a layer at a step. */
export const entropyAt = (
  rows: EntropyRows,
  { step, layer }: { readonly step: number; readonly layer: number },
): number | undefined => newestIn([rows[layer]], step)

/** A row for each run and step. */
export function mapTable(maps: readonly RunMap[], most = Number.POSITIVE_INFINITY): NumberTable {
  const layers = Math.max(...maps.map(({ rows }) => rows.length))
  // Which is final differs between runs of other depths.
  const last = maps.every(({ rows }) => rows.length === layers) ? layers - 1 : -1
  const names = Array.from({ length: layers }, (_, layer) => layerName(layer, last))
  const rows = maps.flatMap(({ entry, rows }) => {
    const name = calledName(entry)
    const steps = new Set(
      measured(rows).flatMap((row) => Array.from(row.steps).slice(0, row.length)),
    )
    const all = [...steps].sort((a, b) => a - b)
    return spread(all.length, most).map((i) => [
      `${name}, step ${all[i]}`,
      ...names.map((_, layer) => formatNumber(entropyAt(rows, { step: all[i], layer }))),
    ])
  })
  return { columns: ['run and step', ...names], rows }
}
