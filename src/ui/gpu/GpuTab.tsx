// Shows the tab GPU: the time and the memory of a run.
import { type PanelEntry, Panels } from '../part/Panels.tsx'
import { Memory } from './Memory.tsx'
import { Profiler } from './Profiler.tsx'
import { StepTimes } from './StepTimes.tsx'

const GPU_PANELS: readonly PanelEntry[] = [
  { name: 'The time of the steps', Own: StepTimes },
  { name: 'The memory', Own: Memory },
  { name: 'The profiler', Own: Profiler },
]

export function GpuTab() {
  return <Panels panels={GPU_PANELS} />
}
