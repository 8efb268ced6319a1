// Draws the ticked runs on one panel for each metric: one colour for each run, the seeds of one
// setting as a mean and a band.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import type { BandKind } from '../../../record/compare/statistics.ts'
import { runColor } from '../../../record/run/record.ts'
import { CutName } from '../../kit/CutName.tsx'
import { formatNumber, formatPercent, formatShare, formatTick } from '../../kit/format.ts'
import { LineMark } from '../../plot/base/Keys.tsx'
import type { FigureLine } from '../../plot/still/figure_lines.ts'
import { LinesFigure } from '../../plot/still/LinesFigure.tsx'
import { SAMPLED_SMOOTHING } from '../../scales/smooth.ts'
import { shortNames } from '../../shown/names/distinct_names.ts'
import { useSlowFrame } from '../../shown/readout.ts'
import { choiceAmong, choiceLabel, comparedChoices } from '../base/choices.ts'
import { boundsOfRuns, isAveraged, isMetric, isShare, metricOf } from '../base/columns.ts'
import { type Compared, columnsOfGroup, ownerOf, smoothOfGroup } from '../base/compared.ts'
import { type Selection, selectionStore } from '../base/selection.ts'

const FOLLOW_MS = 1000
const formatStep = (step: number) => step.toLocaleString('en')
const selectView = ({ view }: Selection) => view
const selectBand = ({ band }: Selection) => band

/** Entropies are in nats. */
const isEntropy = (metric: string): boolean => /entropy/.test(metric)

/** What a panel draws for one metric, or another choice of the table. */
function linesOf(
  groups: readonly Compared[],
  choice: string,
  kind: BandKind | undefined,
): FigureLine[] {
  const names = shortNames(groups.map(({ label }) => label))
  return groups.flatMap((group, i) => {
    const nameOf = (entry: RunEntry) => metricOf(entry, choice)
    const found = columnsOfGroup(group, kind, nameOf)
    if (!found || found.mean.length < 1) return []
    const { mean, band } = found
    const [{ id, labels }] = group.entries
    return [
      {
        key: id,
        label: group.label,
        short: names[i],
        ...runColor(labels.color),
        at: mean.steps,
        middle: mean.values,
        ...(isAveraged(choice) && { smooth: smoothOfGroup(group, kind, nameOf) }),
        length: mean.length,
        ...(band ? { low: band.low.values, high: band.high.values } : {}),
      },
    ]
  })
}

/** What is said above lines that are smoothed; undefined where none is. */
function smoothNote(lines: readonly FigureLine[]): string | undefined {
  if (!lines.some(({ smooth }) => smooth)) return undefined
  return lines.every(({ smooth }) => smooth)
    ? `Lines and bands are smoothed by a local linear fit of weight ${SAMPLED_SMOOTHING}, and faintly behind them lies what each step measured. Numbers are measured ones.`
    : `Lines and bands are smoothed by a local linear fit of weight ${SAMPLED_SMOOTHING}, and faintly behind them lies what each step measured; those of studies are as measured. Numbers are measured ones.`
}

/** Every metric that has a panel: those of the choices, and those that are columns of the table. */
function useChoices(groups: readonly Compared[]): readonly string[] {
  const view = useStore(selectionStore, selectView)
  return useMemo(() => {
    const columns = view.columns.filter(isMetric).map((column) => column.slice('metric:'.length))
    const own = view.metric === '' ? [] : [view.metric]
    const entries = groups.flatMap((group) => group.entries)
    const more = [...own, ...columns].map((choice) => choiceAmong(choice, entries))
    return [...new Set([...comparedChoices(entries).map(({ key }) => key), ...more])]
  }, [view, groups])
}

/** The lines of all panels and maps. */
export function GroupKeys({ groups }: { readonly groups: readonly Compared[] }) {
  return (
    <ul className="compare-lines" data-testid="compare-keys">
      {groups.map(({ label, entries, again }) => (
        <li key={entries[0].id}>
          <LineMark {...runColor(entries[0].labels.color)} /> <CutName name={label} />
          {entries.length > 1 ? (
            <small className="soft">mean of {entries.length} seeds, and its band</small>
          ) : null}
          {again.length > 0 ? (
            <small className="soft">
              {again.length} more of {again.length === 1 ? 'a seed' : 'seeds'} that{' '}
              {again.length === 1 ? 'is' : 'are'} drawn: not counted again
            </small>
          ) : null}
        </li>
      ))}
    </ul>
  )
}

export function Panels({ groups }: { readonly groups: readonly Compared[] }) {
  // Columns are read, and grow, without a render.
  useSlowFrame(FOLLOW_MS)
  const kind = useStore(selectionStore, selectBand)
  const choices = useChoices(groups)
  const [at, move] = useState<number>()
  const cursor = useMemo(() => ({ at, move }), [at])
  const panels = choices.flatMap((choice) => {
    const lines = linesOf(groups, choice, kind)
    return lines.some(({ length }) => length > 1) ? [{ choice, lines }] : []
  })
  if (panels.length === 0)
    return <p className="soft">No metric was measured at two steps of these runs yet.</p>
  return (
    <div className="lines-panels" data-testid="panels">
      {panels.map(({ choice, lines }) => {
        const entries = groups.flatMap((group) => group.entries)
        const nameOf = (entry: RunEntry) => metricOf(entry, choice)
        const isFraction = isShare(choice, entries) || boundsOfRuns(entries, nameOf).high === 1
        return (
          <LinesFigure
            key={choice}
            id={`panel-${choice}`}
            title={choiceLabel(choice, entries)}
            note={smoothNote(lines)}
            owner={ownerOf(groups)}
            unit="step"
            yUnit={isEntropy(nameOf(entries[0])) ? 'nats' : undefined}
            lines={lines}
            isShare={isFraction}
            formatX={formatStep}
            formatY={isFraction ? formatPercent : formatTick}
            formatValue={isFraction ? formatShare : formatNumber}
            cursor={cursor}
            hasNames
          />
        )
      })}
    </div>
  )
}
