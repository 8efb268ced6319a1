// The model of a checkpoint as the commands read it that change it or exchange its parts.
import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { trainerConfig } from '../../document/experiment/trainer_config.ts'
import { decodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { checkpointSource, mergedPolicy } from '../../jobs/model_folders.ts'
import { modelShape } from '../../model/layout/config.ts'
import { paramLayout } from '../../model/layout/params.ts'
import type { ExchangeSource } from '../../rl/train/touched/exchange.ts'
import type { Touchable } from '../../rl/train/touched/touch.ts'
import { LabFailure } from '../base/command.ts'
import { tell } from '../base/terminal.ts'
import { givenData, loadNamedFiles } from '../input/data_set.ts'
import { readInput } from '../input/input_file.ts'
import { findCheckpoint } from '../train/resume.ts'

/** Reads a checkpoint, or the newest of the folder of a run; an adapter is merged into its base.
 * `file`: the rows of a run that was trained on them. Throws LabFailure. */
export async function readTouchable(
  path: string,
  file: string | undefined,
): Promise<Touchable & ExchangeSource> {
  if (!existsSync(path)) throw new LabFailure(`${path}: no such file or folder`)
  const { run } = statSync(path).isDirectory()
    ? (await findCheckpoint(path, undefined)).checkpoint
    : await decodeCheckpoint(new Uint8Array(readInput(path)), basename(path))
  await loadNamedFiles(run.experiment, await givenData({ data: file }), tell)
  const config = trainerConfig(run.experiment)
  const weights = mergedPolicy(checkpointSource(run))
  if (!weights) throw new LabFailure(`${path}: expected weights, found none`)
  const { lora: _, ...model } = config.model
  const layout = paramLayout(modelShape(model))
  return { name: path, step: run.trainer.step, config, layout, weights }
}
