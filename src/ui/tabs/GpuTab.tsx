// What the run costs.

import { Part } from '../Part.tsx'
import { Memory } from '../panels/Memory.tsx'
import { Profiler } from '../panels/Profiler.tsx'

export default function GpuTab() {
  return (
    <>
      <Part name="The memory">
        <Memory />
      </Part>
      <Part name="The profiler">
        <Profiler />
      </Part>
    </>
  )
}
