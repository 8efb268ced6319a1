// What the run costs.
import { Memory } from '../panels/Memory.tsx'
import { Profiler } from '../panels/Profiler.tsx'

export default function GpuTab() {
  return (
    <>
      <Memory />
      <Profiler />
    </>
  )
}
