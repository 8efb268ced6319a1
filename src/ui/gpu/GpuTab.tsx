// Shows the tab GPU: the memory and the time of a run.
import { type PanelEntry, Panels } from '../part/Panels.tsx'
import { Memory } from './Memory.tsx'
import { Profiler } from './Profiler.tsx'
import { StepTimes } from './StepTimes.tsx'

const GPU_PANELS: readonly PanelEntry[] = [
  { name: 'The memory', Own: Memory },
  { name: 'The time of the steps', Own: StepTimes },
  { name: 'The profiler', Own: Profiler },
]

export function GpuTab() {
  return <Panels panels={GPU_PANELS} />
}
