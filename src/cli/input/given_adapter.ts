// Opens a folder of PEFT's whose LoRA adapter a run begins with: --adapter DIR.

import { parseExperiment } from '../../document/experiment/experiment.ts'
import { loraFields } from '../../document/experiment/fields/lora_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import { firstNonfinite } from '../../host/checkpoints/sound.ts'
import { readAdapter } from '../../model/hf/peft_adapter.ts'
import { adapterLayout, packAdapter } from '../../model/layout/adapter_layout.ts'
import { bareConfig, modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import { LabFailure } from '../base/command.ts'
import { modelDirectory } from './model_dir.ts'

/** The experiment with the adapter's settings, and the adapter's factors in their flat layout. */
export interface GivenAdapter {
  readonly experiment: Experiment
  readonly factors: Float32Array
}

/** Throws LabFailure or ModelFileError for an adapter of another kind, or of a model of other
 * sizes. */
export async function readGivenAdapter(
  folder: string,
  experiment: Experiment,
): Promise<GivenAdapter> {
  const shape = modelShape(bareConfig(trainerConfig(experiment).model))
  const { lora, factors } = await readAdapter(modelDirectory(folder), paramLayout(shape))
  const model = { ...experiment.model, lora: loraFields(lora) }
  const parsed = parseExperiment({ ...experiment, model })
  if (!parsed.ok) {
    const [{ path, message }] = parsed.issues
    throw new LabFailure(`--adapter: ${folder}: ${path}: ${message}`)
  }
  const flat = packAdapter(adapterLayout(shape, lora), factors)
  const at = firstNonfinite(flat)
  if (at >= 0)
    throw new LabFailure(`--adapter: ${folder}: expected finite numbers, found ${flat[at]}`)
  return { experiment: parsed.experiment, factors: flat }
}
