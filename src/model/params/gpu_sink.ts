// Passes weights from files to the GPU.

import type { WeightSink } from '../../formats/weight_stream.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { ParamLayout } from '../layout/params.ts'
import type { ParamBuffers } from './param_buffers.ts'
import { writeParams } from './param_copies.ts'

/** Bytes that are handed to the GPU before it is waited for, so that its copies of them do not pile
 * up. */
const UPLOAD_BYTES = 2 ** 27

/** Writes weights to the GPU as they come. Throws RangeError for one that is not finite: nothing
 * that follows from it says anything. */
export function gpuSink(gpu: Gpu, layout: ParamLayout, weights: ParamBuffers): WeightSink {
  const offsets = new Map(layout.params.map(({ name, offset }) => [name, offset]))
  let waiting = 0
  return {
    write: async (param, offset, values) => {
      const bad = values.findIndex((value) => !Number.isFinite(value))
      if (bad >= 0)
        throw new RangeError(
          `tensor ${param}, element ${offset + bad}: expected a finite number, found ${values[bad]}. The file is damaged, or the model broke while it was trained.`,
        )
      writeParams(gpu, weights, values, (offsets.get(param) ?? 0) + offset)
      waiting += values.byteLength
      if (waiting < UPLOAD_BYTES) return
      await gpu.finish()
      waiting = 0
    },
  }
}
