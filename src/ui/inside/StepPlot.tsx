// The charts' own plot area, as the figures of the inside use it.
import { memo } from 'react'
import { Plot, type PlotProps } from '../charts/Plot.tsx'

export type StepPlotProps = Omit<PlotProps, 'with_names'> & {
  /** What a person calls it. */
  readonly title: string
}

/**
 * Phases are marked by their numbers alone: the plots are narrow. A figure renders with every observed step; its axes must not,
 * so pass the same functions and arrays while nothing but the data changes.
 */
export const StepPlot = memo(function StepPlot({ title: _title, ...plot }: StepPlotProps) {
  return <Plot {...plot} with_names={false} />
})
