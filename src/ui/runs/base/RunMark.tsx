// Draws a run in a line: its mark, and its name.
import { runColor } from '../../../record/run/record.ts'
import { CutName } from '../../kit/CutName.tsx'
import { LineMark } from '../../plot/base/Keys.tsx'

/** `color`: an index of RUN_COLORS. */
export function RunMark({ color }: { readonly color: number }) {
  return <LineMark {...runColor(color)} width={2.5} />
}

/** What the charts and the tables call a run. */
export function MarkedName({ name, color }: { readonly name: string; readonly color: number }) {
  return (
    <span className="marked-name">
      <RunMark color={color} /> <CutName name={name} />
    </span>
  )
}
