// What the run costs.

import { Part } from '../base/Part.tsx'
import { Memory } from '../gpu/Memory.tsx'
import { Profiler } from '../gpu/Profiler.tsx'

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
