// A run in a line: its mark, and its name.
import type { RunEntry } from '../../page/runs/library/library.ts'
import { runName } from '../../record/run/names.ts'
import { runColor } from '../../record/run/record.ts'
import { CutName } from '../kit/CutName.tsx'

/** A piece of a line, as the charts draw it. */
export function LineMark(props: { readonly color: string; readonly dash: readonly number[] }) {
  return (
    <svg className="run-mark" width="24" height="8" aria-hidden="true">
      <line
        x1="1"
        x2="23"
        y1="4"
        y2="4"
        stroke={props.color}
        strokeWidth="3"
        strokeDasharray={props.dash.join(' ')}
      />
    </svg>
  )
}

export function RunMark({ color }: { readonly color: number }) {
  return <LineMark {...runColor(color)} />
}

/** What the charts and the tables call a run. */
export function MarkedName({ entry }: { readonly entry: RunEntry }) {
  return (
    <span className="marked-name">
      <RunMark color={entry.labels.color} /> <CutName name={runName(entry).name} />
    </span>
  )
}
