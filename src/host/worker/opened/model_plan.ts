// Plans a model from its config.json before anything else is fetched: its size, and the memory of
// every use of it. A training that fits only with gradient checkpointing gets it.

import { parseJsonObject } from '../../../formats/errors.ts'
import { memorySize } from '../../../kernels/device/base/errors.ts'
import { parseHfConfig } from '../../../model/hf/hf_config.ts'
import { exactDtype, modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import type { ModelOutline } from '../../../rl/look/opened_model.ts'
import type { PlannedUse } from '../../../rl/train/uses/planned_uses.ts'
import type { ModelUse } from '../../protocol/opened_model.ts'
import type { PlannedModel } from './model_sources.ts'

/** `allowed` bytes in all, `mostBinding` bytes of one buffer. Throws ModelFileError for a config
 * that is none, or of another family. */
export function plannedModel(
  configJson: Uint8Array,
  plan: (facts: ModelOutline) => readonly PlannedUse[],
  allowed: number,
  mostBinding: number,
): PlannedModel {
  const file = 'config.json'
  const json = parseJsonObject(configJson, file)
  const { config } = parseHfConfig(json, file)
  const layout = paramLayout(modelShape(config))
  const { model_type } = config
  const { num_parameters } = layout
  // transformers 5 writes dtype, earlier versions torch_dtype.
  const dtype = exactDtype(config, (json.dtype ?? json.torch_dtype) === 'bfloat16')
  const all = plan({ config, layout, exactDtype: dtype }).map(
    ({ what, enable_gradient_checkpointing, bytes, largest }) => ({
      what,
      enable_gradient_checkpointing,
      bytes,
      why_not: whyNot(bytes, largest, allowed, mostBinding),
    }),
  )
  return { model_type, num_parameters, uses: chosenUses(all) }
}

/** Of each use the first way that fits, else the last, which takes the least. */
function chosenUses(all: readonly ModelUse[]): readonly ModelUse[] {
  const whats = [...new Set(all.map(({ what }) => what))]
  return whats.flatMap((wanted) => {
    const ways = all.filter(({ what }) => what === wanted)
    return ways.find(({ why_not }) => why_not === undefined) ?? ways.slice(-1)
  })
}

function whyNot(
  bytes: number,
  largest: PlannedUse['largest'],
  allowed: number,
  mostBinding: number,
): string | undefined {
  if (largest.bytes > mostBinding)
    return `${largest.label} takes ${memorySize(largest.bytes)}, and this adapter has room for ${memorySize(mostBinding)} in one buffer`
  if (bytes > allowed) return `more than the ${memorySize(allowed)} that may be taken here`
  return undefined
}
