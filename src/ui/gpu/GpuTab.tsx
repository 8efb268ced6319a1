// What the run costs.

import { Part } from '../base/page/Part.tsx'
import { Memory } from './Memory.tsx'
import { Profiler } from './Profiler.tsx'

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
