// The charts' own plot area over the run's steps, as the figures of the inside use it.
import { memo, useRef } from 'react'
import { Plot, type PlotHandle, type PlotProps } from '../charts/Plot.tsx'
import { useStepDomain } from '../run.ts'

export type StepPlotProps = Omit<PlotProps, 'with_names' | 'x' | 'handle'>

/**
 * Phases are marked by their numbers alone: the plots are narrow. A figure renders with every observed step; its axes must not,
 * so pass the same functions and arrays while nothing but the data changes.
 */
export const StepPlot = memo(function StepPlot(props: StepPlotProps) {
  const x = useStepDomain()
  const handle = useRef<PlotHandle | null>(null)
  return <Plot {...props} x={x} handle={handle} with_names={false} />
})
