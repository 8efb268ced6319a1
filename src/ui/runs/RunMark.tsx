// A run in a line: its mark, and its name.
import type { RunEntry } from '../../page/runs/library/library.ts'
import { runName } from '../../record/run/names.ts'
import { runColor } from '../../record/run/record.ts'
import { CutName } from '../kit/CutName.tsx'
import { LineMark } from '../plot/Keys.tsx'

export function RunMark({ color }: { readonly color: number }) {
  return <LineMark {...runColor(color)} width={2.5} />
}

/** What the charts and the tables call a run. */
export function MarkedName({ entry }: { readonly entry: RunEntry }) {
  return (
    <span className="marked-name">
      <RunMark color={entry.labels.color} /> <CutName name={runName(entry).name} />
    </span>
  )
}
